"""The memory table: mem0's own three columns in `public`, and what is derived from them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import asyncpg

from shared.errors import CannotStartError

SMALL = 10_000
"""A stock table of at most this many rows is taken over at start; a larger one by `runtime-memory adopt` only."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,47}")

_COLUMNS = """
    user_id text GENERATED ALWAYS AS (left(payload->>'user_id', 256)) STORED,
    agent_id text GENERATED ALWAYS AS (left(payload->>'agent_id', 256)) STORED,
    created_at text COLLATE "C" GENERATED ALWAYS AS
        (coalesce(runtime_memory.utc_stamp(payload->>'created_at'), '')) STORED,
    expires_on text COLLATE "C" GENERATED ALWAYS AS
        (left(runtime_memory.utc_stamp(payload->>'expiration_date'), 10)) STORED,
    hash text COLLATE "C" GENERATED ALWAYS AS (left(payload->>'hash', 64)) STORED,
    lexemes tsvector GENERATED ALWAYS AS (to_tsvector('simple'::regconfig,
        left(coalesce(payload->>'text_lemmatized', payload->>'data', ''), 32000))) STORED
"""
# Identifiers are capped at 256, one more than a usable one has: a longer one that a stock client wrote is nobody's,
# and an index entry stays under its limit, so that no write of a stock client fails. `created_at` is '' when it cannot
# be read: such rows come last.

STALE = "(vector IS NULL OR payload ? 'vector_of' OR payload->>'words_version' IS NULL)"
"""What waits for a fresh vector or fresh lexemes; its index holds those rows only."""

_INDEXES = (
    "CREATE INDEX IF NOT EXISTS {name}_scope ON {memories} (user_id, agent_id, created_at DESC, id)"
    " INCLUDE (expires_on)",
    "CREATE INDEX IF NOT EXISTS {name}_person ON {memories} (user_id, created_at DESC, id)"
    " INCLUDE (expires_on, agent_id)",
    "CREATE INDEX IF NOT EXISTS {name}_words ON {memories} (user_id, agent_id, hash)",
    "CREATE INDEX IF NOT EXISTS {name}_expiry ON {memories} (expires_on) WHERE expires_on IS NOT NULL",
    f"CREATE INDEX IF NOT EXISTS {{name}}_stale ON {{memories}} (id) WHERE {STALE}",
)


_WALL = (
    "ALTER TABLE {memories} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",
    "SELECT runtime_memory.person_policy('{memories}')",
)
# The second wall: a connection that said whose memories it sees is shown no others, whatever a statement asks for. The
# services say so on every connection; a client that has never heard of the setting, such as stock mem0, sees all as
# before. The owner is covered too (FORCE); superusers and roles with BYPASSRLS are not.


@dataclass(frozen=True, slots=True)
class Collection:
    """A checked table name, formatted into SQL here and nowhere else."""

    name: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError("A collection is named by letters, digits and _, at most 48, not starting with a digit.")

    def sql(self, template: str, **parts: str) -> str:
        """A statement for this table: `{memories}` and `{name}`, and constant parts, put in."""
        return template.format(memories=f'public."{self.name}"', name=self.name, **parts)


async def prepare(
    connection: asyncpg.Connection, collection: Collection, dimensions: int, *, row_security: bool = True
) -> None:
    """Make the table, take over a small stock one, or check the one there is. Safe from several starters at once.

    Raises CannotStartError with a sentence: a stock table too large to rewrite at start, or vectors of another width.
    """
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 42))", collection.name)
        present = await columns(connection, collection)
        if not present:
            await _create(connection, collection, dimensions)
        elif "lexemes" not in present:
            await check_width(connection, collection, dimensions)
            await _take_over_small(connection, collection)
        await check_width(connection, collection, dimensions)
        if row_security:
            await _build_wall(connection, collection)
        await note(connection, collection, dimensions)


async def check(connection: asyncpg.Connection, collection: Collection, dimensions: int) -> None:
    """For a role without DDL: the table must be there, ours, and of this width. Raises CannotStartError."""
    if "lexemes" not in await columns(connection, collection):
        raise CannotStartError(
            f"The table {collection.name} is not prepared: start one service with MEMORY_MIGRATE=on."
        )
    await check_width(connection, collection, dimensions)


async def adopt(connection: asyncpg.Connection, collection: Collection) -> None:
    """Rewrite a stock table of any size in one ALTER, after dropping its HNSW index. The caller holds a transaction."""
    for index in await vector_indexes(connection, collection):
        await connection.execute(f"DROP INDEX {index}")
    added = ", ".join(f"ADD COLUMN {column.strip()}" for column in re.split(r",\n(?=    \w)", _COLUMNS))
    await connection.execute(
        collection.sql("ALTER TABLE {memories} {added}, SET (toast_tuple_target = 8160)", added=added)
    )
    for index in _INDEXES:
        await connection.execute(collection.sql(index))


async def note(connection: asyncpg.Connection, collection: Collection, dimensions: int) -> None:
    """Write down that a table is ours."""
    await connection.execute(
        "INSERT INTO runtime_memory.collections (name, dimensions) VALUES ($1, $2)"
        " ON CONFLICT (name) DO UPDATE SET dimensions = excluded.dimensions",
        collection.name,
        dimensions,
    )


async def _create(connection: asyncpg.Connection, collection: Collection, dimensions: int) -> None:
    # toast_tuple_target keeps the vector beside the payload: exact search reads one heap page a row, not two.
    await connection.execute(
        collection.sql(
            "CREATE TABLE {memories} (id uuid PRIMARY KEY, vector vector({dimensions}), payload jsonb, {columns})"
            " WITH (toast_tuple_target = 8160)",
            dimensions=str(int(dimensions)),
            columns=_COLUMNS,
        )
    )
    for index in _INDEXES:
        await connection.execute(collection.sql(index))


async def _build_wall(connection: asyncpg.Connection, collection: Collection) -> None:
    there = "SELECT count(*) FROM pg_policies WHERE schemaname = 'public' AND tablename = $1 AND policyname = $2"
    if not await connection.fetchval(there, collection.name, "runtime_memory_person"):
        for statement in _WALL:
            await connection.execute(collection.sql(statement))


async def _take_over_small(connection: asyncpg.Connection, collection: Collection) -> None:
    template = "SELECT count(*) FROM (SELECT 1 FROM {memories} LIMIT {limit}) AS few"
    rows = await connection.fetchval(collection.sql(template, limit=str(SMALL + 1)))
    if rows > SMALL:
        raise CannotStartError(
            f"The table {collection.name} was made by another client and has more than {SMALL} memories: taking it over"
            " rewrites it. Run `runtime-memory adopt`, which says what it will take, and start again."
        )
    await adopt(connection, collection)


async def columns(connection: asyncpg.Connection, collection: Collection) -> set[str]:
    """The names of its columns; none when there is no such table."""
    rows = await connection.fetch(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1",
        collection.name,
    )
    return {row["column_name"] for row in rows}


async def width(connection: asyncpg.Connection, collection: Collection) -> int | None:
    """The dimensions of its vectors; None when there is no table, or no width was declared."""
    found = await connection.fetchval(
        "SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = 'vector'",
        f'public."{collection.name}"',
    )
    return None if found in (None, -1) else int(found)


async def check_width(connection: asyncpg.Connection, collection: Collection, dimensions: int) -> None:
    """Raises CannotStartError, with both numbers, when its vectors have another width."""
    found = await width(connection, collection)
    if found not in (None, dimensions):
        raise CannotStartError(
            f"The table {collection.name} holds vectors of {found} dimensions, this service is set to {dimensions}"
            " (MEMORY_VECTOR_DIMENSIONS or its embedder). To change the embedder: runtime-memory re-embed."
        )


async def vector_indexes(connection: asyncpg.Connection, collection: Collection) -> list[str]:
    """The approximate indexes on its vectors, which a stock client makes."""
    rows = await connection.fetch(
        "SELECT i.indexrelid::regclass::text AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        " JOIN pg_am a ON a.oid = c.relam WHERE i.indrelid = to_regclass($1) AND a.amname IN ('hnsw', 'ivfflat')",
        f'public."{collection.name}"',
    )
    return [row["name"] for row in rows]
