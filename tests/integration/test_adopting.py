"""A stock table of any size is taken over when asked, and another embedder's vectors come without a pause in reading."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import uuid

import asyncpg
import pytest

from shared.db import widening
from shared.db.collection import SMALL, Collection
from shared.db.preparing import prepare
from shared.errors import CannotStartError
from tests.services import environment

TABLE = Collection("agent_memories")
ODD = [
    {"data": "naive", "user_id": "ana", "agent_id": "app:a", "created_at": "2025-01-01T00:00:00"},
    {"data": "zoned", "user_id": "ana", "agent_id": "app:a", "created_at": "2025-01-01T00:30:00+01:00"},
    {"data": "pacific", "user_id": "ana", "agent_id": "app:a", "created_at": "2024-12-31T16:00:00.5-08:00"},
    {"data": "undated", "user_id": "ana", "agent_id": "app:a"},
    {"data": 5, "user_id": "ana", "agent_id": "app:a", "created_at": {"x": 1}},
    {"user_id": "x" * 3000, "data": "of nobody"},
    {},
]


async def stock(dsn: str, rows: int) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute("CREATE TABLE agent_memories (id uuid PRIMARY KEY, vector vector(384), payload jsonb)")
    await connection.execute("CREATE INDEX agent_memories_hnsw ON agent_memories USING hnsw (vector vector_cosine_ops)")
    await connection.executemany(
        "INSERT INTO agent_memories VALUES ($1, NULL, $2::text::jsonb)",
        [(uuid.uuid4(), json.dumps(odd)) for odd in ODD],
    )
    await connection.execute("INSERT INTO agent_memories VALUES (gen_random_uuid(), NULL, NULL)")
    await connection.execute(
        "INSERT INTO agent_memories SELECT gen_random_uuid(), NULL, jsonb_build_object('data', 'm' || n, 'user_id',"
        " 'ben', 'agent_id', 'app:a', 'created_at', '2025-01-01T00:00:00Z') FROM generate_series(1, $1) n",
        rows,
    )
    await connection.close()


def command(dsn: str, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **environment(DATALAYER_POSTGRESQL_AGENT_MEMORIES_URI=dsn)}
    return subprocess.run(
        [sys.executable, "-m", "shared", *words], capture_output=True, text=True, env=env, check=False, timeout=120
    )


async def test_a_large_stock_table_is_taken_over_by_the_command_that_says_what_it_takes(database: str) -> None:
    await stock(database, SMALL + 1)
    with pytest.raises(CannotStartError, match="runtime-memory adopt"):
        await prepare(database, TABLE, 384, with_ddl=True)

    said = await asyncio.to_thread(command, database, "adopt", "--dry-run")
    assert f"has {SMALL + 1 + len(ODD) + 1} memories" in said.stdout, said.stderr
    assert "1 vector index(es) are dropped first" in said.stdout
    done = await asyncio.to_thread(command, database, "adopt", "--yes")
    assert done.returncode == 0, done.stderr
    assert "ours already" in (await asyncio.to_thread(command, database, "adopt")).stdout

    await prepare(database, TABLE, 384, with_ddl=True)
    connection = await asyncpg.connect(database)
    rows = await connection.fetch(
        "SELECT payload->>'data' AS words FROM agent_memories WHERE user_id = 'ana' ORDER BY created_at DESC, words"
    )
    await connection.close()
    assert [row["words"] for row in rows] == ["pacific", "naive", "zoned", "5", "undated"]


async def test_adopting_is_refused_for_another_width_and_changes_nothing(database: str) -> None:
    await stock(database, 1)
    connection = await asyncpg.connect(database)
    await connection.execute("ALTER TABLE agent_memories ALTER COLUMN vector TYPE vector(3)")

    refused = await asyncio.to_thread(command, database, "adopt", "--yes")

    assert refused.returncode == 1
    assert "3 dimensions" in refused.stderr
    assert "384" in refused.stderr
    columns = await connection.fetch("SELECT * FROM agent_memories LIMIT 1")
    await connection.close()
    assert list(columns[0].keys()) == ["id", "vector", "payload"]


async def test_re_embed_makes_every_vector_again_and_can_be_called_again(database: str) -> None:
    await prepare(database, TABLE, 3, with_ddl=True)
    connection = await asyncpg.connect(database)
    await connection.executemany(
        "INSERT INTO agent_memories VALUES ($1, '[1,2,3]', jsonb_build_object('data', $2::text, 'user_id', 'ana',"
        " 'agent_id', 'app:a'))",
        [(uuid.uuid4(), f"fact {n}") for n in range(70)],
    )
    refused = prepare(database, TABLE, 384, with_ddl=True)
    with pytest.raises(CannotStartError, match=r"3 dimensions.*384.*re-embed"):
        await refused

    for words in (("re-embed",), ("re-embed", "--all")):
        done = await asyncio.to_thread(command, database, *words)
        assert done.returncode == 0, done.stderr
        assert "70 memories" in done.stdout
        row = await connection.fetchrow(
            "SELECT count(*) AS n, count(vector) AS vectors, min(vector_dims(vector)) AS width,"
            " count(*) FILTER (WHERE payload ? 'vector_of') AS stale FROM agent_memories"
        )
        assert tuple(row) == (70, 70, 384, 0)
    await connection.close()
    await prepare(database, TABLE, 384, with_ddl=True)


async def test_widening_empties_nothing_that_has_the_width(database: str) -> None:
    await prepare(database, TABLE, 3, with_ddl=True)
    connection = await asyncpg.connect(database)

    assert await widening.widen(connection, TABLE, 3) is False
    assert await widening.widen(connection, TABLE, 4) is True
    await connection.close()


async def test_a_table_of_an_earlier_release_is_widened_and_brought_up_to_date(database: str) -> None:
    await prepare(database, TABLE, 3, with_ddl=True)
    connection = await asyncpg.connect(database)
    await connection.execute("ALTER TABLE agent_memories DROP COLUMN length, DROP COLUMN short, DROP COLUMN terms")
    with pytest.raises(CannotStartError, match=r"3 dimensions.*4.*re-embed"):
        await prepare(database, TABLE, 4, with_ddl=True)

    assert await widening.widen(connection, TABLE, 4) is True
    await connection.close()
    await prepare(database, TABLE, 4, with_ddl=True)
