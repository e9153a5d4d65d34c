"""Takes over a memory table of any size, a stock client's or an earlier release's, after saying what it will take."""

from __future__ import annotations

from dataclasses import dataclass

import asyncpg

from shared.db import collection as collections
from shared.db.collection import Collection
from shared.db.migrate import migrate, read_migrations
from shared.errors import CannotStartError

_ROWS_A_SECOND = 25_000
"""How fast the rewrite and its indexes went on two cores; a slower disk takes longer."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What taking over a table will take."""

    rows: int
    bytes: int
    vector_indexes: list[str]
    """Dropped first: search is exact here, and they make the rewrite many times dearer."""
    ours: bool
    """Whether it was taken over already."""

    @property
    def seconds(self) -> int:
        """About how long reads and writes wait."""
        return 1 + self.rows // _ROWS_A_SECOND


async def estimate(connection: asyncpg.Connection, collection: Collection) -> Estimate:
    """Counted, not changed. Raises CannotStartError when there is no such table."""
    columns = await collections.columns(connection, collection)
    if not {"id", "vector", "payload"} <= columns:
        raise CannotStartError(f"There is no memory table {collection.name} in this database.")
    rows = await connection.fetchval(collection.sql("SELECT count(*) FROM {memories}"))
    size = await connection.fetchval("SELECT pg_total_relation_size($1::regclass)", collection.sql("{memories}"))
    indexes = await collections.vector_indexes(connection, collection)
    return Estimate(rows, size, indexes, await collections.is_ours(connection, collection))


async def adopt(connection: asyncpg.Connection, collection: Collection, dimensions: int) -> None:
    """Make the schema, and the table ours: all of it or nothing. Raises CannotStartError for another width."""
    await migrate(connection, read_migrations())
    async with connection.transaction():
        await connection.execute(collection.sql("LOCK TABLE {memories} IN ACCESS EXCLUSIVE MODE"))
        await collections.check_width(connection, collection, dimensions)
        if not await collections.is_ours(connection, collection):
            await collections.adopt(connection, collection)
        await collections.note(connection, collection, dimensions)
    await connection.execute(collection.sql("VACUUM (ANALYZE) {memories}"), timeout=None)
