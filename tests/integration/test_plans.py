"""No statement reads everybody's rows: plans at 100,000 memories, before the tables were first analysed and after."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import asyncpg
import orjson
import pytest

from shared.db.collection import Collection
from shared.db.embedded import ROLE, EmbeddedServer
from shared.db.pool import NOBODY, Database
from shared.db.preparing import prepare
from shared.records import By, Door, Patch
from shared.scope import Everything, Scope
from shared.stores.pg import search
from shared.stores.pg.maintenance import PostgresMaintenance
from shared.stores.pg.queue import PostgresQueue
from shared.stores.pg.store import PostgresStore
from tests.conformance.build import DIMENSIONS, direction, memory

ROWS = 100_000
ANA = Scope("person7", "app:notes")
BY = By("person7", Door.APPS)
COLLECTION = Collection("agent_memories")
GUARDED = {"agent_memories", "history", "events", "receipts"}
OF_FEW = {"agent_memories_stale", "agent_memories_expiry", "events_waiting", "events_unfinished", "events_one_running"}
"""Indexes that hold only what waits: they may be read whole."""

FILL = """
INSERT INTO agent_memories (id, vector, payload)
SELECT gen_random_uuid(), ARRAY[random(), 1, 0, 0, 0, 0, 0, 0]::vector, jsonb_build_object(
    'data', 'tea number ' || n, 'text_lemmatized', 'tea number ' || n, 'hash', md5(n::text), 'words_version', 1,
    'user_id', 'person' || n % 500, 'agent_id', 'app:notes', 'run_id', 'run' || n % 7,
    'created_at', '2026-01-01T00:00:' || lpad((n % 60)::text, 2, '0') || '.000000+00:00',
    'expiration_date', CASE WHEN n % 1000 = 7 THEN '2020-01-01' END)
FROM generate_series(1, 100000) AS n;
INSERT INTO runtime_memory.history (memory_id, user_id, agent_id, event, new_words, actor, door, at)
SELECT id, user_id, agent_id, 'ADD', 'tea', user_id, 'apps', now() FROM agent_memories;
INSERT INTO runtime_memory.events (id, user_id, agent_id, status, epoch, actor, door, completed_at)
SELECT gen_random_uuid(), 'person' || n % 500, 'app:notes', CASE WHEN n % 1000 = 0 THEN 'PENDING' ELSE 'SUCCEEDED' END,
    0, 'x', 'apps', CASE WHEN n % 1000 > 0 THEN now() END FROM generate_series(1, 100000) AS n;
INSERT INTO runtime_memory.receipts (user_id, agent_id, verb, forgotten, actor, door, at)
SELECT 'person' || n % 500, 'app:notes', 'forget', 1, 'x', 'apps', now() FROM generate_series(1, 100000) AS n;
"""


class Watched(Database):
    """Notes every statement that is run on it, with its values."""

    def __init__(self, dsn: str) -> None:
        super().__init__(dsn)
        self.seen: list[tuple[str, Sequence[Any]]] = []

    @asynccontextmanager
    async def connection(self, person: str = NOBODY) -> AsyncIterator[asyncpg.pool.PoolConnectionProxy]:
        async with super().connection(person) as connection:
            with connection.query_logger(lambda ran: self.seen.append((ran.query, ran.args))):
                yield connection


@dataclass(frozen=True)
class Stores:
    store: PostgresStore
    queue: PostgresQueue
    maintenance: PostgresMaintenance

    async def an_id(self) -> str:
        return (await self.store.page(ANA, limit=1)).memories[0].id

    async def page_on(self) -> None:
        first = await self.store.page(ANA, limit=50)
        await self.store.page(ANA, limit=50, after=first.next)


async def _as_large(stores: Stores) -> None:
    """As a scope of thousands is searched."""
    with patch.object(search, "FEW", -1):
        for reach in (ANA, Everything(ANA.person)):
            await stores.store.candidates(reach, vector=direction(1), lexemes=["tea", "number"])


ACTS: dict[str, Callable[[Stores], Awaitable[object]]] = {
    "list": lambda s: s.store.page(ANA, limit=50),
    "list the next page": lambda s: s.page_on(),
    "list everything of a person": lambda s: s.store.page(Everything(ANA.person), limit=50, offset=50),
    "count": lambda s: s.store.count(ANA),
    "search": lambda s: s.store.candidates(ANA, vector=direction(1), lexemes=["tea", "number"]),
    "search a large scope": _as_large,
    "get": lambda s: s.store.get(ANA, secrets.token_hex(16)[:8] + "-0000-4000-8000-000000000000"),
    "applications": lambda s: s.store.applications(Everything(ANA.person)),
    "learn": lambda s: s.store.commit(ANA, [memory(f"coffee {n}") for n in range(5)], BY),
    "correct": lambda s: _with_id(s, lambda one: s.store.correct(ANA, one, Patch(words="new", lexemes="new"), BY)),
    "history": lambda s: _with_id(s, lambda one: s.store.history(ANA, one)),
    "forget": lambda s: _with_id(s, lambda one: s.store.forget(ANA, one, BY)),
    "receipts": lambda s: s.store.receipts(Everything(ANA.person), limit=20),
    "enqueue": lambda s: s.queue.enqueue(ANA, {"a": 1}, BY, extracts=False, idempotency_key="k", most=1000),
    "claim": lambda s: s.queue.claim("w", timedelta(seconds=9)),
    "lapse": lambda s: s.queue.lapse(),
    "a person's learns": lambda s: s.queue.page(ANA, limit=20),
    "drop the finished": lambda s: s.queue.drop_finished(timedelta(days=900)),
    "stale": lambda s: s.maintenance.stale(after="", limit=100),
    "sweep": lambda s: s.maintenance.sweep("2020-06-01", BY, limit=10),
    "forget all": lambda s: s.store.forget_all(ANA, BY, confirmed=ROWS),
}


async def _with_id(stores: Stores, act: Callable[[str], Awaitable[object]]) -> object:
    return await act(await stores.an_id())


@pytest.fixture(scope="module", params=["never analysed", "analysed"])
def full(postgres_server: EmbeddedServer, request: pytest.FixtureRequest) -> Iterator[str]:
    """A database with 100,000 memories of 500 people."""
    name = f"test_plans_{secrets.token_hex(4)}"
    dsn = postgres_server.dsn_of(name, role=ROLE)
    asyncio.run(_fill(postgres_server, name, dsn, analysed=request.param == "analysed"))
    yield dsn
    asyncio.run(_as_admin(postgres_server, f"DROP DATABASE {name} WITH (FORCE)"))


async def _as_admin(server: EmbeddedServer, sql: str) -> None:
    admin = await asyncpg.connect(server.admin_dsn)
    await admin.execute(sql)
    await admin.close()


async def _fill(server: EmbeddedServer, name: str, dsn: str, *, analysed: bool) -> None:
    await _as_admin(server, f"CREATE DATABASE {name} TEMPLATE {ROLE} OWNER {ROLE} STRATEGY FILE_COPY")
    await prepare(dsn, COLLECTION, DIMENSIONS, with_ddl=True)
    connection = await asyncpg.connect(dsn)
    for table in ("public.agent_memories", "runtime_memory.history", "runtime_memory.events"):
        await connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")
    await connection.execute(FILL)
    if analysed:
        await connection.execute("VACUUM ANALYZE")
    await connection.close()


@pytest.fixture
async def watched(full: str) -> AsyncIterator[Watched]:
    database = Watched(full)
    await database.open()
    yield database
    await database.close()


@pytest.mark.timeout(180)
async def test_no_statement_reads_the_rows_of_everybody(watched: Watched) -> None:
    stores = Stores(
        PostgresStore(watched, COLLECTION), PostgresQueue(watched), PostgresMaintenance(watched, COLLECTION)
    )
    wide: dict[str, list[str]] = {}
    explained = 0
    for name, act in ACTS.items():
        watched.seen.clear()
        await act(stores)
        for query, values in list(watched.seen):
            for plan in await _plans(watched, query, values):
                explained += 1
                if found := list(_wide(plan)):
                    wide.setdefault(name, []).extend(found)
    assert explained > 2 * len(ACTS)
    assert wide == {}


async def test_a_large_scope_is_looked_through_in_its_index_alone(watched: Watched) -> None:
    await _as_large(
        Stores(PostgresStore(watched, COLLECTION), PostgresQueue(watched), PostgresMaintenance(watched, COLLECTION))
    )
    used: set[tuple[str, str]] = set()
    for query, values in list(watched.seen):
        for plan in await _plans(watched, query, values):
            used |= set(_uses(plan))

    assert {index for kind, index in used if kind == "Index Scan"} == {"agent_memories_pkey"}
    assert used >= {("Index Only Scan", f"agent_memories_{which}") for which in ("compact", "runs", "unshort")}


async def test_a_read_of_everybody_is_told(watched: Watched) -> None:
    [plan, _] = await _plans(watched, "SELECT count(*) FROM agent_memories WHERE payload->>'user_id' = $1", ["ana"])
    [ordered, _] = await _plans(watched, "SELECT id FROM agent_memories ORDER BY id LIMIT 5", [])

    assert list(_wide(plan)) == ["Seq Scan on agent_memories"]
    assert list(_wide(ordered)) == ["all of agent_memories_pkey"]


async def _plans(database: Watched, query: str, values: Sequence[Any]) -> list[dict[str, Any]]:
    """As planned for these values, and for any: the server changes to the second after some runs."""
    if not any(table in query for table in GUARDED):  # the driver's own
        return []
    if values and isinstance(values[0], (list, tuple)):  # of executemany
        values = values[0]
    async with Database.connection(database) as connection, connection.transaction():
        await connection.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        await connection.execute(f"PREPARE watched AS {query}")
        unknown = f"({', '.join(['NULL'] * len(values))})" if values else ""
        plans = [
            await connection.fetchval(f"EXPLAIN (FORMAT JSON) {query}", *values),
            await connection.fetchval(f"EXPLAIN (FORMAT JSON) EXECUTE watched{unknown}"),
        ]
        await connection.execute("DEALLOCATE watched")
    return [(orjson.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"] for plan in plans]


def _wide(node: dict[str, Any]) -> Iterator[str]:
    """What in a plan reads a whole table that holds everybody's, or a whole index of it."""
    table, index = node.get("Relation Name"), node.get("Index Name")
    if table in GUARDED and node["Node Type"] == "Seq Scan":
        yield f"Seq Scan on {table}"
    if index is not None and index not in OF_FEW and not node.get("Index Cond"):
        yield f"all of {index}"
    for inner in node.get("Plans", ()):
        yield from _wide(inner)


def _uses(node: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """How each index in a plan is used."""
    if (index := node.get("Index Name")) is not None:
        yield node["Node Type"], index
    for inner in node.get("Plans", ()):
        yield from _uses(inner)
