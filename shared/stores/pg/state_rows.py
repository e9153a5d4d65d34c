"""The rows of snapshots: a state, its parts, and which memories it holds."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import asyncpg

from shared.errors import Conflict
from shared.scope import Everything
from shared.snapshots.sealing import Part, state_id
from shared.stores.pg.reading import canonical
from shared.stores.pg.scopes import Connection
from shared.stores.states import ERASED, MOST_STATES, Sealed, State

_COLUMNS = "id, created, digest, counts, size, parts"


async def check_room(connection: Connection, person: Everything) -> None:
    """Raises Conflict when the person has all the snapshots that there may be, with those that are being taken in."""
    count = await connection.fetchval("SELECT count(*) FROM runtime_memory.states WHERE user_id = $1", person.person)
    if count >= MOST_STATES:
        raise Conflict(f"You have {MOST_STATES} snapshots, the most there are. Forget one first.")


async def sweep(connection: Connection) -> None:
    """Remove what uploads left that ended with their process."""
    await connection.execute(
        "DELETE FROM runtime_memory.states WHERE id IS NULL AND begun_at < now() - interval '1 day'"
    )


async def begin(connection: Connection, person: Everything) -> int:
    """A state that is not complete; its key."""
    return int(
        await connection.fetchval(
            "INSERT INTO runtime_memory.states (user_id) VALUES ($1) RETURNING key", person.person
        )
    )


async def add_parts(connection: Connection, person: Everything, key: int, number: int, parts: Sequence[Part]) -> int:
    """Some parts, counted from a number; the number of the next.

    Raises UniqueViolationError for an id twice, Conflict for a state that is gone.
    """
    held = "SELECT true FROM runtime_memory.states WHERE key = $1 AND user_id = $2 FOR KEY SHARE"
    if not await connection.fetchval(held, key, person.person):
        raise Conflict(ERASED)
    for part in parts:
        await connection.execute(
            "INSERT INTO runtime_memory.state_parts (state_key, part, content) VALUES ($1, $2, $3)",
            key,
            number,
            part.content,
        )
        # What the person forgot stays forgotten in a snapshot of theirs that comes from outside.
        await connection.execute(
            "INSERT INTO runtime_memory.state_memories (state_key, user_id, memory_id, live_id, forgotten)"
            " SELECT $1, $2, id, id, EXISTS (SELECT FROM runtime_memory.state_memories m"
            " WHERE m.user_id = $2 AND m.live_id = id AND m.forgotten) FROM unnest($3::uuid[]) AS ids (id)",
            key,
            person.person,
            part.memory_ids,
        )
        number += 1
    return number


async def discard(connection: Connection, person: Everything, key: int) -> None:
    """Remove a state that was never completed."""
    await connection.execute(
        "DELETE FROM runtime_memory.states WHERE user_id = $1 AND key = $2 AND id IS NULL", person.person, key
    )


async def seal(connection: Connection, person: Everything, key: int, sealed: Sealed, parts: int) -> State:
    """Complete a state. Raises UniqueViolationError when the person has one with this id, Conflict when it is gone."""
    row = await connection.fetchrow(
        "UPDATE runtime_memory.states SET id = $2, created = $3, digest = $4, counts = $5, size = $6, parts = $7"  # noqa: S608 (constant)
        f" WHERE key = $1 AND user_id = $8 RETURNING {_COLUMNS}",
        key,
        UUID(sealed.id or state_id(person.person, sealed.digest)),
        sealed.created,
        sealed.digest,
        dict(sealed.counts),
        sealed.size,
        parts,
        person.person,
    )
    if row is None:
        raise Conflict(ERASED)
    return _state(row)


async def all_of(connection: Connection, person: Everything) -> list[State]:
    """Newest first."""
    rows = await connection.fetch(
        f"SELECT {_COLUMNS} FROM runtime_memory.states WHERE user_id = $1 AND id IS NOT NULL ORDER BY key DESC",  # noqa: S608 (constant)
        person.person,
    )
    return [_state(row) for row in rows]


async def find(connection: Connection, person: Everything, state_id: str) -> State | None:
    """One by id."""
    row = await connection.fetchrow(
        f"SELECT {_COLUMNS} FROM runtime_memory.states WHERE user_id = $1 AND id = $2",  # noqa: S608 (constant)
        person.person,
        canonical(state_id),
    )
    return None if row is None else _state(row)


async def drop(connection: Connection, person: Everything, state_id: str) -> bool:
    """Remove one; False when unknown."""
    gone = await connection.fetchval(
        "DELETE FROM runtime_memory.states WHERE user_id = $1 AND id = $2 RETURNING true",
        person.person,
        canonical(state_id),
    )
    return gone is True


async def drop_all(connection: Connection, person: Everything) -> int:
    """Remove all of a person's; how many there were."""
    gone = await connection.execute(
        "DELETE FROM runtime_memory.states WHERE user_id = $1 AND id IS NOT NULL", person.person
    )
    return int(gone.rpartition(" ")[2])


async def drop_unfinished(connection: Connection, person: Everything) -> None:
    """Remove what is being taken in, or what a killed process left of it: it is in no list, so nobody could."""
    await connection.execute("DELETE FROM runtime_memory.states WHERE user_id = $1 AND id IS NULL", person.person)


async def hold(connection: Connection, person: Everything, state_id: str) -> tuple[int, int] | None:
    """The key of a state and how many parts it has; it stays to the end of the transaction."""
    row = await connection.fetchrow(
        "SELECT key, parts FROM runtime_memory.states WHERE user_id = $1 AND id = $2 FOR SHARE",
        person.person,
        canonical(state_id),
    )
    return None if row is None else (row["key"], row["parts"])


async def content(connection: Connection, key: int, number: int) -> bytes:
    """One part of a state that is held."""
    return bytes(
        await connection.fetchval(
            "SELECT content FROM runtime_memory.state_parts WHERE state_key = $1 AND part = $2", key, number
        )
    )


async def part(connection: Connection, person: Everything, state_id: str, number: int) -> bytes | None:
    """One part of a state; None when there is none."""
    found = await connection.fetchval(
        "SELECT content FROM runtime_memory.state_parts JOIN runtime_memory.states ON key = state_key"
        " WHERE user_id = $1 AND id = $2 AND part = $3",
        person.person,
        canonical(state_id),
        number,
    )
    return None if found is None else bytes(found)


async def forgotten(connection: Connection, key: int) -> frozenset[str]:
    """Ids, in a state, of what was forgotten since."""
    rows = await connection.fetch(
        "SELECT memory_id FROM runtime_memory.state_memories WHERE state_key = $1 AND forgotten", key
    )
    return frozenset(str(row["memory_id"]) for row in rows)


async def moved(connection: Connection, key: int) -> dict[str, str]:
    """Under which id a memory of a state lives, where it is another."""
    rows = await connection.fetch(
        "SELECT memory_id, live_id FROM runtime_memory.state_memories WHERE state_key = $1 AND live_id <> memory_id",
        key,
    )
    return {str(row["memory_id"]): str(row["live_id"]) for row in rows}


def _state(row: asyncpg.Record) -> State:
    return State(str(row["id"]), row["created"], row["digest"], row["counts"], row["size"], row["parts"])
