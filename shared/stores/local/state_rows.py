"""The rows of snapshots: a state, its parts, and which memories it holds."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from shared.errors import Conflict
from shared.scope import Everything
from shared.snapshots.sealing import Part, state_id
from shared.stores.local.overflow import padding
from shared.stores.local.rows import canonical
from shared.stores.states import MOST_STATES, Sealed, State
from shared.times import now, stamp

_COLUMNS = "id, created, digest, counts, size, parts"


def check_room(connection: sqlite3.Connection, person: Everything) -> None:
    """Raises Conflict when the person has all the snapshots that there may be."""
    count = connection.execute(
        "SELECT count(*) FROM states WHERE user_id = ? AND id IS NOT NULL", (person.person,)
    ).fetchone()[0]
    if count >= MOST_STATES:
        raise Conflict(f"You have {MOST_STATES} snapshots, the most there are. Forget one first.")


def sweep(connection: sqlite3.Connection) -> None:
    """Remove what uploads left that ended with their process."""
    connection.execute("DELETE FROM states WHERE id IS NULL AND begun_at < ?", (stamp(now() - timedelta(days=1)),))


def begin(connection: sqlite3.Connection, person: Everything) -> int:
    """A state that is not complete; its key."""
    row = connection.execute(
        "INSERT INTO states (user_id, begun_at) VALUES (?, ?) RETURNING key", (person.person, stamp(now()))
    ).fetchone()
    return int(row[0])


def add_parts(connection: sqlite3.Connection, person: Everything, key: int, number: int, parts: Sequence[Part]) -> int:
    """Some parts, counted from a number; the number of the next. Raises sqlite3.IntegrityError for an id twice."""
    for part in parts:
        blank, fill = padding([key, number], [part.content])
        connection.execute(
            "INSERT INTO state_parts (state_key, part, blank, content, fill) VALUES (?, ?, ?, ?, ?)",
            (key, number, blank, part.content, fill),
        )
        # What the person forgot stays forgotten in a snapshot of theirs that comes from outside.
        connection.execute(
            "INSERT INTO state_memories (state_key, memory_id, user_id, live_id, forgotten)"
            " SELECT ?, value, ?, value, EXISTS (SELECT 1 FROM state_memories m"
            " WHERE m.user_id = ? AND m.live_id = value AND m.forgotten) FROM json_each(?)",
            (key, person.person, person.person, json.dumps(part.memory_ids)),
        )
        number += 1
    return number


def seal(connection: sqlite3.Connection, person: Everything, key: int, sealed: Sealed, parts: int) -> State:
    """Complete a state. Raises sqlite3.IntegrityError when the person has one with this id."""
    row = connection.execute(
        "UPDATE states SET id = ?, created = ?, digest = ?, counts = ?, size = ?, parts = ? WHERE key = ?"  # noqa: S608 (constant)
        f" RETURNING {_COLUMNS}",
        (
            sealed.id or state_id(person.person, sealed.digest),
            sealed.created,
            sealed.digest,
            json.dumps(dict(sealed.counts)),
            sealed.size,
            parts,
            key,
        ),
    ).fetchone()
    return _state(row)


def discard(connection: sqlite3.Connection, key: int) -> None:
    """Remove a state that is not complete."""
    connection.execute("DELETE FROM states WHERE key = ? AND id IS NULL", (key,))


def all_of(connection: sqlite3.Connection, person: Everything) -> list[State]:
    """Newest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM states WHERE user_id = ? AND id IS NOT NULL ORDER BY key DESC",  # noqa: S608 (constant)
        (person.person,),
    )
    return [_state(row) for row in rows]


def find(connection: sqlite3.Connection, person: Everything, state_id: str) -> State | None:
    """One by id."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM states WHERE user_id = ? AND id = ?",  # noqa: S608 (constant)
        (person.person, canonical(state_id)),
    ).fetchone()
    return None if row is None else _state(row)


def drop(connection: sqlite3.Connection, person: Everything, state_id: str) -> bool:
    """Remove one; False when unknown."""
    gone = connection.execute("DELETE FROM states WHERE user_id = ? AND id = ?", (person.person, canonical(state_id)))
    return gone.rowcount > 0


def drop_all(connection: sqlite3.Connection, person: Everything) -> int:
    """Remove all of a person's; how many there were."""
    gone = connection.execute("DELETE FROM states WHERE user_id = ? AND id IS NOT NULL", (person.person,))
    return int(gone.rowcount)


def hold(connection: sqlite3.Connection, person: Everything, state_id: str) -> tuple[int, int] | None:
    """The key of a state and how many parts it has."""
    row = connection.execute(
        "SELECT key, parts FROM states WHERE user_id = ? AND id = ?", (person.person, canonical(state_id))
    ).fetchone()
    return None if row is None else (row[0], row[1])


def content(connection: sqlite3.Connection, key: int, number: int) -> bytes:
    """One part of a state."""
    row = connection.execute(
        "SELECT content FROM state_parts WHERE state_key = ? AND part = ?", (key, number)
    ).fetchone()
    return bytes(row[0])


def part(connection: sqlite3.Connection, person: Everything, state_id: str, number: int) -> bytes | None:
    """One part of a person's state; None when there is none."""
    found = hold(connection, person, state_id)
    return None if found is None or number >= found[1] else content(connection, found[0], number)


def forgotten(connection: sqlite3.Connection, key: int) -> frozenset[str]:
    """Ids, in a state, of what was forgotten since."""
    rows = connection.execute("SELECT memory_id FROM state_memories WHERE state_key = ? AND forgotten", (key,))
    return frozenset(row[0] for row in rows)


def moved(connection: sqlite3.Connection, key: int) -> dict[str, str]:
    """Under which id a memory of a state lives, where it is another."""
    rows = connection.execute(
        "SELECT memory_id, live_id FROM state_memories WHERE state_key = ? AND live_id <> memory_id", (key,)
    )
    return dict(rows.fetchall())


def _state(row: tuple[Any, ...]) -> State:
    return State(row[0], row[1], row[2], json.loads(row[3]), row[4], row[5])
