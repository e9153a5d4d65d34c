"""Another embedder: the vector column made for its width, and memories marked as waiting for a vector of it."""

from __future__ import annotations

import asyncpg

from shared.db import collection as collections
from shared.db.collection import Collection
from shared.errors import CannotStartError

_BATCH = 5_000


async def widen(connection: asyncpg.Connection, collection: Collection, dimensions: int) -> bool:
    """Make the vector column of another width, empty, so that all wait for a vector; False when it has the width."""
    if "lexemes" not in await collections.columns(connection, collection):
        raise CannotStartError(f"The table {collection.name} is not prepared: start one service first.")
    if await collections.width(connection, collection) == dimensions:
        return False
    async with connection.transaction():
        # No column's type is changed while another is made of it: the short form goes, and comes back.
        await connection.execute(collection.sql("ALTER TABLE {memories} DROP COLUMN IF EXISTS short"))
        sql = "ALTER TABLE {memories} ALTER COLUMN vector TYPE vector({dimensions}) USING NULL"
        await connection.execute(collection.sql(sql, dimensions=str(int(dimensions))))
        await collections.derive(connection, collection)
        await collections.note(connection, collection, dimensions)
    return True


async def take_up(connection: asyncpg.Connection) -> None:
    """What another embedder refused waits like all else. Raises CannotStartError for the schema of an older version."""
    if await connection.fetchval("SELECT to_regclass('runtime_memory.set_aside') IS NULL"):
        raise CannotStartError("The database is of an older version: start one service first.")
    await connection.execute("DELETE FROM runtime_memory.set_aside")


async def mark_all(connection: asyncpg.Connection, collection: Collection) -> None:
    """Mark those with a vector as stale, some at a time; the old vector serves until the new one comes."""
    sql = (
        "WITH batch AS (SELECT id FROM {memories} WHERE id > $1 ORDER BY id LIMIT {batch}), marked AS ("
        " UPDATE {memories} m SET payload = m.payload || jsonb_build_object('vector_of', coalesce("
        " m.payload->>'vector_of', m.payload->>'hash', '')) FROM batch WHERE m.id = batch.id AND m.payload IS NOT NULL)"
        " SELECT max(id::text) FROM batch"
    )
    last: str | None = "00000000-0000-0000-0000-000000000000"
    while last is not None:
        last = await connection.fetchval(collection.sql(sql, batch=str(_BATCH)), last)
