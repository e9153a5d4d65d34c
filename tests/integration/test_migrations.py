"""The schema: made once however many start, refused when it is not ours, shared with a stock mem0 client."""

from __future__ import annotations

import asyncio
import json
import uuid

import asyncpg
import pytest

from shared.db.collection import SMALL, Collection
from shared.db.migrate import Migration, check_vector, migrate, read_migrations
from shared.db.preparing import OLDEST, check_server, prepare
from shared.errors import CannotStartError

TABLE = Collection("agent_memories")


async def ready(dsn: str, *, collection: Collection = TABLE, dimensions: int = 3) -> None:
    await prepare(dsn, collection, dimensions, with_ddl=True)


async def test_eight_starters_at_once_apply_each_migration_once(database: str) -> None:
    await asyncio.gather(*(ready(database) for _ in range(8)))

    connection = await asyncpg.connect(database)
    applied = await connection.fetch("SELECT name FROM runtime_memory.migrations ORDER BY name")
    await connection.close()
    assert [row["name"] for row in applied] == [m.name for m in read_migrations()]


async def test_a_migration_that_fails_leaves_nothing(database: str) -> None:
    connection = await asyncpg.connect(database)
    broken = Migration("9999_broken", "CREATE TABLE runtime_memory.half (id int); SELECT 1 / 0")
    with pytest.raises(asyncpg.DivisionByZeroError):
        await migrate(connection, [*read_migrations(), broken])

    assert await connection.fetchval("SELECT to_regclass('runtime_memory.half')") is None
    await connection.close()


async def test_a_changed_and_an_unknown_migration_are_refused(database: str) -> None:
    await ready(database)
    connection = await asyncpg.connect(database)
    [first, *rest] = read_migrations()
    with pytest.raises(CannotStartError, match=first.name):
        await migrate(connection, [Migration(first.name, first.sql + "-- changed"), *rest])
    with pytest.raises(CannotStartError, match="newer version"):
        await migrate(connection, rest)
    await connection.close()


async def test_another_width_of_vectors_is_refused_with_both_numbers(database: str) -> None:
    await ready(database, dimensions=3)

    with pytest.raises(CannotStartError, match=r"3 dimensions.*set to 4"):
        await ready(database, dimensions=4)


async def stock_table(connection: asyncpg.Connection, rows: int) -> None:
    await connection.execute("CREATE TABLE agent_memories (id uuid PRIMARY KEY, vector vector(3), payload jsonb)")
    await connection.execute("CREATE INDEX agent_memories_hnsw ON agent_memories USING hnsw (vector vector_cosine_ops)")
    await connection.execute(
        "INSERT INTO agent_memories SELECT gen_random_uuid(), ARRAY[1, n, 2]::vector, jsonb_build_object('data', 'm' || n,"
        " 'user_id', 'ana', 'agent_id', 'app:a', 'created_at', '2026-01-01T00:00:00+01:00') FROM generate_series(1, $1) n",
        rows,
    )


async def test_a_small_stock_table_is_taken_over_at_start(database: str) -> None:
    connection = await asyncpg.connect(database)
    await stock_table(connection, 20)
    await ready(database)

    row = await connection.fetchrow("SELECT count(*), min(created_at) AS at, min(user_id) AS who FROM agent_memories")
    indexes = await connection.fetch("SELECT indexdef FROM pg_indexes WHERE tablename = 'agent_memories'")
    await connection.close()
    assert tuple(row) == (20, "2025-12-31T23:00:00.000000+00:00", "ana")
    assert not any("hnsw" in row["indexdef"] for row in indexes)


async def test_a_large_stock_table_is_left_as_it_is_with_a_sentence(database: str) -> None:
    connection = await asyncpg.connect(database)
    await connection.execute("CREATE TABLE agent_memories (id uuid PRIMARY KEY, vector vector(3), payload jsonb)")
    await connection.execute(
        "INSERT INTO agent_memories SELECT gen_random_uuid(), NULL, '{}' FROM generate_series(1, $1)", SMALL + 1
    )
    with pytest.raises(CannotStartError, match="runtime-memory adopt"):
        await ready(database)

    columns = await connection.fetch("SELECT * FROM agent_memories LIMIT 1")
    await connection.close()
    assert list(columns[0].keys()) == ["id", "vector", "payload"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2026-11-30T10:00:00Z", "2026-11-30T10:00:00.000000+00:00"),
        ("2026-11-30 10:00:00.5+02:00", "2026-11-30T08:00:00.500000+00:00"),
        ("2026-11-30T10:00:00.123456", "2026-11-30T10:00:00.123456+00:00"),
        ("2026-11-30T10:00:00-0730", "2026-11-30T17:30:00.000000+00:00"),
        ("2026-11-30", "2026-11-30T00:00:00.000000+00:00"),
        ("2026-02-30T10:00:00Z", ""),
        ("yesterday", ""),
        ("infinity", ""),
        ("2026-11-30T10:00:00 Europe/Prague", ""),
        (5, ""),
        (None, ""),
        ({"a": 1}, ""),
        ("9" * 5000, ""),
    ],
)
async def test_any_time_a_stock_client_writes_is_sorted_by_its_instant_and_never_fails_the_write(
    database: str, given: object, kept: str
) -> None:
    await ready(database)
    connection = await asyncpg.connect(database)
    await connection.execute("SET TimeZone = 'America/Los_Angeles'")
    payload = json.dumps(
        {"created_at": given, "expiration_date": given, "user_id": "x" * 5000, "data": "word " * 20_000}
    )
    await connection.execute("INSERT INTO agent_memories VALUES ($1, NULL, $2::text::jsonb)", uuid.uuid4(), payload)

    row = await connection.fetchrow("SELECT created_at, expires_on, length(user_id) AS cap FROM agent_memories")
    await connection.close()
    assert row["created_at"] == kept
    assert row["expires_on"] == (kept[:10] or None)
    assert row["cap"] == 256


def test_a_postgresql_that_is_too_old_is_refused_with_both_numbers() -> None:
    with pytest.raises(CannotStartError, match=r"17 or newer.*is 16"):
        check_server(OLDEST - 1)

    check_server(OLDEST)


async def test_a_table_of_an_earlier_release_is_brought_up_to_date_at_start(database: str) -> None:
    await ready(database)
    connection = await asyncpg.connect(database)
    await connection.execute(
        "INSERT INTO agent_memories (id, vector, payload) SELECT gen_random_uuid(), ARRAY[1, n, 2]::vector,"
        " jsonb_build_object('data', 'tea m' || n, 'user_id', 'ana', 'agent_id', 'app:a', 'run_id', 'r')"
        " FROM generate_series(1, 20) AS n"
    )
    now = await connection.fetch(DERIVED)
    indexes = await connection.fetch(DEFINITIONS)
    await connection.execute(
        "ALTER TABLE agent_memories DROP COLUMN length, DROP COLUMN run, DROP COLUMN short, DROP COLUMN terms,"
        " ALTER COLUMN lexemes SET EXPRESSION AS (to_tsvector('simple'::regconfig, payload->>'data'))"
    )
    await connection.execute(
        "CREATE INDEX agent_memories_scope ON agent_memories (user_id, agent_id, created_at DESC, id)"
        " INCLUDE (expires_on)"
    )
    with pytest.raises(CannotStartError, match="not prepared"):
        await prepare(database, TABLE, 3, with_ddl=False)

    await ready(database)

    assert await connection.fetch(DERIVED) == now
    assert await connection.fetch(DEFINITIONS) == indexes
    await connection.close()


async def test_an_index_of_an_earlier_release_is_replaced_at_start(database: str) -> None:
    await ready(database)
    connection = await asyncpg.connect(database)
    indexes = await connection.fetch(DEFINITIONS)
    await connection.execute("DROP INDEX agent_memories_compact")
    await connection.execute("CREATE INDEX agent_memories_search ON agent_memories (user_id, agent_id) INCLUDE (terms)")
    with pytest.raises(CannotStartError, match="not prepared"):
        await prepare(database, TABLE, 3, with_ddl=False)

    await ready(database)

    assert await connection.fetch(DEFINITIONS) == indexes
    await connection.close()


DERIVED = "SELECT id, lexemes::text, length, run, short::text, terms::text FROM agent_memories ORDER BY id"
DEFINITIONS = "SELECT indexdef FROM pg_indexes WHERE tablename = 'agent_memories' ORDER BY 1"


@pytest.mark.parametrize("version", ["0.7", "0.7.4", "0.8.1", "1.0", "0.10.0"])
def test_a_pgvector_with_short_forms_is_taken(version: str) -> None:
    check_vector(version)


@pytest.mark.parametrize("version", ["0.6.2", "0.5", "0.4.4"])
def test_an_older_pgvector_is_refused_with_both_numbers(version: str) -> None:
    with pytest.raises(CannotStartError, match=rf"0\.7 or newer.*{version}"):
        check_vector(version)
