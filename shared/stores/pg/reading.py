"""Reads of the memory table: a page, a count, one by id, the applications of a person."""

from __future__ import annotations

import uuid

import asyncpg

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
    rows = await connection.fetch(
        collection.sql(
            # The total in the same statement: a round trip costs more than the count of one scope.
            "SELECT id, payload, created_at, (SELECT count(*) FROM {memories} WHERE {within}) AS total"
            " FROM {memories} WHERE {within}{start} ORDER BY created_at DESC, id LIMIT {limit} OFFSET {offset}",
            within=within,
            start=start,
            limit=str(limit + 1),
            offset=str(offset),
        ),
        *started,
    )
    more = len(rows) > limit
    shown = rows[:limit]
    past_the_end = not rows and (offset > 0 or after is not None)
    total = await _count(connection, collection, within, values) if past_the_end else rows[0]["total"] if rows else 0
    following = cursor.encode(shown[-1]["created_at"], str(shown[-1]["id"])) if more and shown else None
    return Page([memory(row) for row in shown], total, following)


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
