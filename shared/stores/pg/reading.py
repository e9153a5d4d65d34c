"""Reads of the memory table: a page, a count, one by id, the applications of a person."""

from __future__ import annotations

import uuid

import asyncpg
import orjson

from shared.db.collection import Collection
from shared.filters import Filter
from shared.records import ApplicationSummary, Memory, Page
from shared.scope import Reach
from shared.stores import cursor
from shared.stores.pg.conditions import condition
from shared.stores.pg.scopes import Connection


def canonical(memory_id: str) -> uuid.UUID | None:
    """A memory's id, or None for what cannot be one: 36 characters, in any case."""
    try:
        return uuid.UUID(memory_id) if len(memory_id) == 36 else None
    except ValueError:
        return None


def memory(row: asyncpg.Record) -> Memory:
    """One row of (id, payload)."""
    return Memory(str(row["id"]), row["payload"] or {})


_PAGE = """
SELECT (SELECT count(*) FROM {memories} WHERE {within}), array_agg(id::text), (array_agg(created_at))[{limit}],
    json_agg(payload)
FROM (
    SELECT id, created_at, payload FROM {memories} WHERE {within}{start}
    ORDER BY created_at DESC, id LIMIT {and_one} OFFSET {offset}
) AS page
"""
# One row, always: the driver makes no fifty rows, the payloads are read at once, and the total needs no round trip.


async def page(
    connection: Connection,
    collection: Collection,
    reach: Reach,
    *,
    limit: int,
    offset: int,
    after: str | None,
    where: Filter | None,
    show_expired: bool,
) -> Page:
    """See `MemoryStore.page`."""
    within, values = condition(reach, where, show_expired=show_expired)
    start, started = "", list(values)
    if after is not None:
        start = (
            f" AND created_at <= ${len(values) + 1} AND (created_at < ${len(values) + 1} OR id > ${len(values) + 2})"
        )
        started += cursor.decode(after)
    [(total, ids, last, payloads)] = await connection.fetch(
        collection.sql(_PAGE, within=within, start=start, limit=str(limit), and_one=str(limit + 1), offset=str(offset)),
        *started,
    )
    if ids is None:
        return Page([], total, None)
    # What is a person's has a payload that says so: there is no row without.
    shown = list(map(Memory, ids[:limit], orjson.loads(payloads)))
    following = cursor.encode(last, ids[limit - 1]) if len(ids) > limit else None
    return Page(shown, total, following)


async def count(
    connection: Connection, collection: Collection, reach: Reach, *, where: Filter | None, show_expired: bool
) -> int:
    """See `MemoryStore.count`."""
    return await _count(connection, collection, *condition(reach, where, show_expired=show_expired))


async def _count(connection: Connection, collection: Collection, within: str, values: list[object]) -> int:
    sql = collection.sql("SELECT count(*) FROM {memories} WHERE {within}", within=within)
    return int(await connection.fetchval(sql, *values))


async def get(connection: Connection, collection: Collection, reach: Reach, memory_id: str) -> Memory | None:
    """See `MemoryStore.get`."""
    if (known := canonical(memory_id)) is None:
        return None
    within, values = condition(reach, None, show_expired=True)
    template = "SELECT id, payload FROM {memories} WHERE id = {id} AND {within}"
    row = await connection.fetchrow(
        collection.sql(template, within=within, id=f"${len(values) + 1}"),
        *values,
        known,
    )
    return None if row is None else memory(row)


async def applications(connection: Connection, collection: Collection, reach: Reach) -> list[ApplicationSummary]:
    """See `MemoryStore.applications`."""
    within, values = condition(reach, None, show_expired=False)
    rows = await connection.fetch(
        collection.sql(
            "SELECT agent_id, count(*) AS total, min(nullif(created_at, '')) AS first_at,"
            " max(nullif(created_at, '')) AS last_at FROM {memories}"
            " WHERE {within} AND agent_id IS NOT NULL GROUP BY agent_id ORDER BY agent_id",
            within=within,
        ),
        *values,
    )
    return [ApplicationSummary(row["agent_id"], row["total"], row["first_at"], row["last_at"]) for row in rows]
