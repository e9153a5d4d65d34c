"""The rows of snapshots: a state, its parts, and which memories it holds."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from shared.errors import BadValue, Conflict
from shared.scope import Everything
from shared.snapshots.sealing import Part, state_id
from shared.stores.local.overflow import padding
from shared.stores.local.rows import canonical
from shared.stores.states import ERASED, MOST_STATES, Sealed, State
from shared.times import now, stamp

_COLUMNS = "id, created, digest, counts, size, parts"


def check_room(connection: sqlite3.Connection, person: Everything) -> None:
    """Raises Conflict when the person has all the snapshots that there may be, with those that are being taken in."""
    count = connection.execute("SELECT count(*) FROM states WHERE user_id = ?", (person.person,)).fetchone()[0]
    if count >= MOST_STATES:
        raise Conflict(f"You have {MOST_STATES} snapshots, the most there are. Forget one first.")


def sweep(connection: sqlite3.Connection) -> None:
    """Remove what uploads left that never ended."""
    connection.execute("DELETE FROM states WHERE id IS NULL AND begun_at < ?", (stamp(now() - timedelta(days=1)),))


def begin(connection: sqlite3.Connection, person: Everything) -> int:
    """A state that is not complete; its key."""
    row = connection.execute(
        "INSERT INTO states (user_id, begun_at) VALUES (?, ?) RETURNING key", (person.person, stamp(now()))
    ).fetchone()
    return int(row[0])


def add_parts(connection: sqlite3.Connection, person: Everything, key: int, number: int, parts: Sequence[Part]) -> int:
    """Some parts, counted from a number; the number of the next.

    Raises BadValue for a memory that is in it twice, Conflict for a state that is gone.
    """
    if connection.execute("SELECT 1 FROM states WHERE key = ?", (key,)).fetchone() is None:
        raise Conflict(ERASED)
    for part in parts:
        blank, fill = padding([key, number], [part.content])
        connection.execute(
            "INSERT INTO state_parts (state_key, part, blank, content, fill) VALUES (?, ?, ?, ?, ?)",
            (key, number, blank, part.content, fill),
        )
        _add_memories(connection, person, key, part.memory_ids)
        number += 1
    return number


def _add_memories(connection: sqlite3.Connection, person: Everything, key: int, memory_ids: Sequence[str]) -> None:
    try:
        # What the person forgot stays forgotten in a snapshot of theirs that comes from outside.
        connection.executemany(
            "INSERT INTO state_memories (state_key, user_id, memory_id, live_id, forgotten)"
            " SELECT :key, :person, :id, :id, EXISTS (SELECT 1 FROM state_memories"
            " WHERE user_id = :person AND live_id = :id AND forgotten)",
            [{"key": key, "person": person.person, "id": memory_id} for memory_id in memory_ids],
        )
    except sqlite3.IntegrityError as error:
        raise BadValue("A memory stands in it twice. Nothing was taken in.") from error


def seal(connection: sqlite3.Connection, person: Everything, key: int, sealed: Sealed, parts: int) -> State:
    """Complete a state; one with the same content is kept once. Raises Conflict for another one with the same id."""
    wanted = sealed.id or state_id(person.person, sealed.digest)
    if (known := find(connection, person, wanted)) is not None:
        if known.digest != sealed.digest:
            raise Conflict("You have another snapshot by this id. Nothing was taken in.")
        connection.execute("DELETE FROM states WHERE key = ?", (key,))
        return known
    row = connection.execute(
        "UPDATE states SET id = ?, created = ?, digest = ?, counts = ?, size = ?, parts = ?"  # noqa: S608 (constant)
        f" WHERE key = ? RETURNING {_COLUMNS}",
        (wanted, sealed.created, sealed.digest, json.dumps(dict(sealed.counts)), sealed.size, parts, key),
    ).fetchone()
    if row is None:
        raise Conflict(ERASED)
    return _state(row)


def discard(connection: sqlite3.Connection, key: int) -> None:
    """Remove a state that was not completed."""
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
    return connection.execute("DELETE FROM states WHERE user_id = ? AND id IS NOT NULL", (person.person,)).rowcount


def drop_unfinished(connection: sqlite3.Connection, person: Everything) -> None:
    """Remove what is being taken in, or what is left of it: it is in no list, so nobody could."""
    connection.execute("DELETE FROM states WHERE user_id = ? AND id IS NULL", (person.person,))


def release(connection: sqlite3.Connection) -> None:
    """When the store is opened nobody takes anything in: what a killed process had begun goes."""
    connection.execute("DELETE FROM states WHERE id IS NULL")


def hold(connection: sqlite3.Connection, person: Everything, state_id: str) -> tuple[int, int] | None:
    """The key of a state and how many parts it has."""
    row = connection.execute(
        "SELECT key, parts FROM states WHERE user_id = ? AND id = ?", (person.person, canonical(state_id))
    ).fetchone()
    return None if row is None else (row[0], row[1])


def content(connection: sqlite3.Connection, key: int, number: int) -> bytes:
    """One part of a state that is held."""
    row = connection.execute(
        "SELECT content FROM state_parts WHERE state_key = ? AND part = ?", (key, number)
    ).fetchone()
    return bytes(row[0])


def part(connection: sqlite3.Connection, person: Everything, state_id: str, number: int) -> bytes | None:
    """One part of a state; None when there is none."""
    found = hold(connection, person, state_id)
    if found is None or not 0 <= number < found[1]:
        return None
    return content(connection, found[0], number)


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
    state_id, created, digest, counts, size, parts = row
    return State(state_id, created, digest, json.loads(counts), size, parts)
