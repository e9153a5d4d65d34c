"""Everything of a person, read in the order of a snapshot, some entries at a time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence
from typing import Any
from uuid import UUID

import asyncpg
import numpy as np

from shared.db.collection import Collection
from shared.snapshots.entries import Allowed, Entry, Kept, Kind, Typed, kind_of
from shared.stores.pg.scopes import Connection
from shared.times import stamp

_BATCH = 200


async def everything(connection: Connection, collection: Collection, person: str) -> AsyncIterator[Sequence[Entry]]:
    """In a transaction that sees one moment."""
    async for typed in _data(connection, person):
        yield [typed]
    yield await _allowances(connection, person)
    found = await _ids(connection, collection, person)
    for start in range(0, len(found), _BATCH):
        yield await _memories(connection, collection, person, found[start : start + _BATCH])


async def _data(connection: Connection, person: str) -> AsyncIterator[Entry]:
    names = await connection.fetch(
        "SELECT agent_id, type FROM runtime_memory.data WHERE user_id = $1"
        " UNION SELECT agent_id, type FROM runtime_memory.data_schemas WHERE user_id = $1 ORDER BY 1, 2",
        person,
    )
    used = Counter(row["type"] for row in names)
    for name in names:
        revisions = await connection.fetch(
            "SELECT revision, data, actor, created FROM runtime_memory.data"
            " WHERE user_id = $1 AND agent_id = $2 AND type = $3 ORDER BY revision",
            person,
            name["agent_id"],
            name["type"],
        )
        schema = await connection.fetchval(
            "SELECT schema FROM runtime_memory.data_schemas WHERE user_id = $1 AND agent_id = $2 AND type = $3",
            person,
            name["agent_id"],
            name["type"],
        )
        shared = used[name["type"]] > 1
        yield Typed(name["agent_id"], name["type"], [dict(row) for row in revisions], schema, shared)


async def _allowances(connection: Connection, person: str) -> list[Entry]:
    rows = await connection.fetch(
        "SELECT source, reader, allowed_at FROM runtime_memory.shares WHERE user_id = $1 ORDER BY source, reader",
        person,
    )
    return [Allowed(row["source"], row["reader"], stamp(row["allowed_at"])) for row in rows]


async def _ids(connection: Connection, collection: Collection, person: str) -> list[tuple[Kind, UUID]]:
    """Every memory by kind and id; ids only, so that tens of thousands are no matter."""
    rows = await connection.fetch(
        collection.sql(
            "SELECT id, payload->>'run_id' AS run_id, expires_on, payload->'state_unit'->>'kind' AS told"
            " FROM {memories} WHERE user_id = $1"
        ),
        person,
    )
    return sorted((kind_of(row["run_id"], row["expires_on"], row["told"]), row["id"]) for row in rows)


async def _memories(
    connection: Connection, collection: Collection, person: str, found: Sequence[tuple[Kind, UUID]]
) -> list[Entry]:
    ids = [memory_id for _, memory_id in found]
    rows = await connection.fetch(
        collection.sql("SELECT id, vector, payload FROM {memories} WHERE user_id = $1 AND id = ANY($2::uuid[])"),
        person,
        ids,
    )
    kept = {row["id"]: row for row in rows}
    history = await _history(connection, person, ids)
    return [
        Kept(
            kind,
            str(memory_id),
            {key: value for key, value in (kept[memory_id]["payload"] or {}).items() if key != "user_id"},
            _floats(kept[memory_id]["vector"]),
            history[memory_id],
        )
        for kind, memory_id in found
        if memory_id in kept
    ]


async def _history(connection: Connection, person: str, ids: Sequence[UUID]) -> dict[UUID, list[dict[str, Any]]]:
    rows = await connection.fetch(
        "SELECT memory_id, event, old_words, new_words, actor, door, at FROM runtime_memory.history"
        " WHERE user_id = $1 AND memory_id = ANY($2::uuid[]) ORDER BY id",
        person,
        ids,
    )
    found: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[row["memory_id"]].append(_change(row))
    return found


def _change(row: asyncpg.Record) -> dict[str, Any]:
    return {
        "event": row["event"],
        "old": row["old_words"],
        "new": row["new_words"],
        "actor": row["actor"],
        "door": row["door"],
        "at": stamp(row["at"]),
    }


def _floats(vector: Any) -> bytes | None:
    return None if vector is None else np.asarray(vector.to_numpy(), dtype="<f4").tobytes()
