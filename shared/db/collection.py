"""The memory table: mem0's own three columns in `public`, and what is derived from them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import asyncpg

from shared.db.derived import COLUMNS, INDEXES, LEXEMES, STORAGE
from shared.errors import CannotStartError

SMALL = 10_000
"""A table of at most this many rows is taken over, or brought up to date, at start; a larger one by `runtime-memory
adopt` only."""

_STORAGE = ", ".join(f"{name} = {value}" for name, value in STORAGE.items())

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,47}")

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
        if not await columns(connection, collection):
            await _create(connection, collection, dimensions)
        elif not await is_ours(connection, collection):
            await check_width(connection, collection, dimensions)
            await _take_over_small(connection, collection)
        await check_width(connection, collection, dimensions)
        if row_security:
            await _build_wall(connection, collection)
        await note(connection, collection, dimensions)


async def check(connection: asyncpg.Connection, collection: Collection, dimensions: int) -> None:
    """For a role without DDL: the table must be there, ours, and of this width. Raises CannotStartError."""
    if not await is_ours(connection, collection):
        raise CannotStartError(
            f"The table {collection.name} is not prepared: start one service with MEMORY_MIGRATE=on."
        )
    await check_width(connection, collection, dimensions)


async def is_ours(connection: asyncpg.Connection, collection: Collection) -> bool:
    """Whether the table was made or taken over by this release: every derived column and index is there."""
    if not await columns(connection, collection) >= COLUMNS.keys():
        return False
    rows = await connection.fetch(
        "SELECT indexname FROM pg_indexes WHERE schemaname = 'public' AND tablename = $1", collection.name
    )
    return {row["indexname"] for row in rows} >= {f"{collection.name}_{one}" for one in INDEXES}


async def adopt(connection: asyncpg.Connection, collection: Collection) -> None:
    """Rewrite a table of any size in one ALTER: a stock one, after dropping its HNSW index, or an earlier release's.

    The caller holds a transaction.
    """
    for index in await vector_indexes(connection, collection):
        await connection.execute(f"DROP INDEX {index}")
    await derive(connection, collection)


async def derive(connection: asyncpg.Connection, collection: Collection) -> None:
    """Every derived column and index that is missing, in one ALTER. The caller holds a transaction."""
    present = await columns(connection, collection)
    # An earlier release's indexes: one of this name held less, the other was in no order of ids. Its lexemes have
    # positions, which nothing reads.
    await connection.execute(collection.sql("DROP INDEX IF EXISTS public.{name}_scope, public.{name}_search"))
    changes = [f"ADD COLUMN {name} {kind}" for name, kind in COLUMNS.items() if name not in present]
    if "lexemes" in present:
        changes.append(f"ALTER COLUMN lexemes SET EXPRESSION AS {LEXEMES}")
    changes.append(f"SET ({_STORAGE})")
    await connection.execute(collection.sql("ALTER TABLE {memories} {changes}", changes=", ".join(changes)))
    await _make_indexes(connection, collection)


async def _make_indexes(connection: asyncpg.Connection, collection: Collection) -> None:
    for name, definition in INDEXES.items():
        sql = f"CREATE INDEX IF NOT EXISTS {{name}}_{name} ON {{memories}} {definition}"
        await connection.execute(collection.sql(sql))


async def note(connection: asyncpg.Connection, collection: Collection, dimensions: int) -> None:
    """Write down that a table is ours."""
    await connection.execute(
        "INSERT INTO runtime_memory.collections (name, dimensions) VALUES ($1, $2)"
        " ON CONFLICT (name) DO UPDATE SET dimensions = excluded.dimensions",
        collection.name,
        dimensions,
    )


async def _create(connection: asyncpg.Connection, collection: Collection, dimensions: int) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    await connection.execute(
        collection.sql(
            "CREATE TABLE {memories} (id uuid PRIMARY KEY, vector vector({dimensions}), payload jsonb, {columns})"
            " WITH ({storage})",
            dimensions=str(int(dimensions)),
            columns=columns,
            storage=_STORAGE,
        )
    )
    await _make_indexes(connection, collection)


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
            f"The table {collection.name} was made by another client or an earlier release and has more than {SMALL}"
            " memories: taking it over rewrites it. Run `runtime-memory adopt`, which says what it will take, and start"
            " again."
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
