"""Which snapshots of a person hold which memories, and which of those were forgotten since: ids, never words."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from shared.stores.pg.scopes import Connection


async def note_forgotten(connection: Connection, person: str, memory_ids: Sequence[str]) -> list[UUID]:
    """In the transaction of the forgetting: mark what snapshots hold of it; the ids of those snapshots."""
    rows = await connection.fetch(
        "WITH held AS (UPDATE runtime_memory.state_memories SET forgotten = true"
        " WHERE user_id = $1 AND live_id = ANY($2::uuid[]) RETURNING state_key)"
        " SELECT id FROM runtime_memory.states WHERE user_id = $1 AND id IS NOT NULL"
        " AND key IN (SELECT state_key FROM held)",
        person,
        memory_ids,
    )
    return [row["id"] for row in rows]


async def holding(connection: Connection, person: str, memory_ids: Sequence[str]) -> list[UUID]:
    """The ids of the person's snapshots that hold any of these."""
    rows = await connection.fetch(
        "SELECT id FROM runtime_memory.states WHERE user_id = $1 AND id IS NOT NULL AND key IN"
        " (SELECT state_key FROM runtime_memory.state_memories WHERE user_id = $1 AND live_id = ANY($2::uuid[]))",
        person,
        memory_ids,
    )
    return [row["id"] for row in rows]


async def note_remembered(connection: Connection, person: str, memory_ids: Sequence[str]) -> None:
    """In the transaction of a restore: these are remembered again."""
    await connection.execute(
        "UPDATE runtime_memory.state_memories SET forgotten = false"
        " WHERE user_id = $1 AND live_id = ANY($2::uuid[]) AND forgotten",
        person,
        memory_ids,
    )
