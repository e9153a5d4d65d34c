"""A PostgreSQL with the same memories in two tables: ours, and the one that stock mem0 makes, HNSW and all."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import orjson
from pgvector.asyncpg import register_vector

from bench.people import ANA, BIG, DIMENSIONS, People, Row
from shared.db.collection import Collection
from shared.db.embedded import EmbeddedServer
from shared.db.preparing import prepare
from shared.records import Vector

OURS = Collection("agent_memories")
STOCK = "stock_memories"
_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class Filled:
    """Where the database is, the bytes that each table takes with its indexes, and the vectors of some people."""

    dsn: str
    ours: int
    stock: int
    vectors: dict[str, dict[str, Vector]]
    """Of each person who is searched: by memory id."""


@contextlib.asynccontextmanager
async def server() -> AsyncIterator[EmbeddedServer]:
    """A durable embedded server in a directory that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="rm-bench-") as directory:
        Path(directory).chmod(0o755)
        held = await EmbeddedServer.hold(Path(directory) / "pg")
        try:
            yield held
        finally:
            await held.release()


async def fill(dsn: str, people: People, *, stock: bool = True) -> Filled:
    """Both tables made anew by their own software, filled, and analysed as the server does within a minute.

    Without stock, ours alone.
    """
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(f"DROP TABLE IF EXISTS public.{OURS.name}, public.{STOCK}")
        await connection.execute("DROP SCHEMA IF EXISTS runtime_memory CASCADE; DROP TABLE IF EXISTS mem0migrations")
        # COPY is not for a table with row security: the wall is built once it is filled.
        await prepare(dsn, OURS, DIMENSIONS, with_ddl=True, row_security=False)
        if stock:
            await asyncio.to_thread(_stock_table, dsn)
        await _codecs(connection)
        vectors = await _copy(connection, people, (OURS.name, STOCK) if stock else (OURS.name,))
        await prepare(dsn, OURS, DIMENSIONS, with_ddl=True)
        await connection.execute("VACUUM ANALYZE")
        size = "SELECT coalesce(pg_total_relation_size(to_regclass($1)), 0)"
        return Filled(dsn, *[await connection.fetchval(size, table) for table in (OURS.name, STOCK)], vectors)
    finally:
        await connection.close()


def _stock_table(dsn: str) -> None:
    os.environ["MEM0_TELEMETRY"] = "False"
    from mem0.vector_stores.pgvector import PGVector  # noqa: PLC0415 (reads its environment as it is imported)

    store = PGVector(
        dbname=None, collection_name=STOCK, embedding_model_dims=DIMENSIONS, user=None, password=None, host=None,
        port=None, diskann=False, hnsw=True, connection_string=dsn,
    )  # fmt: skip
    store.create_col()
    store.connection_pool.close()


async def _codecs(connection: asyncpg.Connection) -> None:
    await register_vector(connection)
    await connection.set_type_codec(
        "jsonb",
        schema="pg_catalog",
        encoder=lambda value: b"\x01" + orjson.dumps(value),
        decoder=lambda raw: orjson.loads(raw[1:]),
        format="binary",
    )


async def _copy(connection: asyncpg.Connection, people: People, tables: Sequence[str]) -> dict[str, dict[str, Vector]]:
    """An HNSW index is made after its rows: row by row it takes twenty times as long."""
    indexes = await connection.fetch("SELECT indexname, indexdef FROM pg_indexes WHERE indexname ~ 'stock.*hnsw'")
    for index in indexes:
        await connection.execute(f"DROP INDEX {index['indexname']}")
    vectors: dict[str, dict[str, Vector]] = {ANA.person: {}, BIG.person: {}}
    for rows in _batches(people.all()):
        for row in rows:
            if (hers := vectors.get(row.payload["user_id"])) is not None:
                hers[str(row.id)] = row.vector
        records = [(row.id, row.vector, row.payload) for row in rows]
        for table in tables:
            await connection.copy_records_to_table(table, records=records, columns=["id", "vector", "payload"])
    # The whole graph of a million in memory: on disk it takes three times as long.
    await connection.execute("SET maintenance_work_mem = '4GB'")
    for index in indexes:
        await connection.execute(index["indexdef"], timeout=3600)
    return vectors


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    several = iter(rows)
    while batch := list(itertools.islice(several, _AT_ONCE)):
        yield batch
