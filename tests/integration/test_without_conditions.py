"""With the person gone from the WHERE of every statement, what one asks and does still never reaches another's rows."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

import asyncpg
import pytest

from shared.access import Access
from shared.api_keys import ApiKey, digest_of, new_key
from shared.client_records import WEBHOOK
from shared.db import pool
from shared.db.collection import Collection
from shared.db.pool import Database, Limits
from shared.db.preparing import prepare
from shared.records import By, Door, Patch
from shared.scope import Everything, Scope
from shared.snapshots.entries import Entry
from shared.stores.maintenance import Stale
from shared.stores.pg.access import PostgresAccessRecord
from shared.stores.pg.administration import PostgresAdministration
from shared.stores.pg.api_keys import PostgresApiKeys
from shared.stores.pg.client_records import PostgresClientRecords
from shared.stores.pg.data import PostgresData
from shared.stores.pg.maintenance import PostgresMaintenance
from shared.stores.pg.queue import PostgresQueue
from shared.stores.pg.shares import PostgresShares
from shared.stores.pg.states import PostgresStates
from shared.stores.pg.store import PostgresStore
from shared.stores.queue import Claimed
from shared.times import now
from tests.conformance.build import ANA, BY, DIMENSIONS, direction, keep, memory
from tests.integration.test_row_security_tables import OF_PEOPLE

COLLECTION = Collection("agent_memories")
HERS, BOB, HIS = Everything("ana"), Scope("bob", ANA.application), Everything("bob")
BOBS = By("bob", Door.APPS)
CREATED = "2026-01-01T00:00:00.000000+00:00"
LEASE = timedelta(minutes=5)
_PINS = re.compile(r"\b(?:\w+\.)?(?:user_id|agent_id) = (\$\d+)")


class Unpinned(pool._Connection):
    """Runs every statement without its person and application."""

    async def execute(self, query: str, *values: Any, **more: Any) -> Any:
        return await super().execute(_unpinned(query), *values, **more)

    async def fetch(self, query: str, *values: Any, **more: Any) -> Any:
        return await super().fetch(_unpinned(query), *values, **more)

    async def fetchrow(self, query: str, *values: Any, **more: Any) -> Any:
        return await super().fetchrow(_unpinned(query), *values, **more)

    async def fetchval(self, query: str, *values: Any, **more: Any) -> Any:
        return await super().fetchval(_unpinned(query), *values, **more)


def _unpinned(query: str) -> str:
    return _PINS.sub(r"\1::text IS NOT NULL", query)


@dataclass
class Kept:
    """Every store over one database, and what Ana has in them."""

    database: Database
    memory_id: str = ""
    claimed: Claimed | None = None
    state_id: str = ""
    key: ApiKey | None = None

    def __post_init__(self) -> None:
        self.store = PostgresStore(self.database, COLLECTION)
        self.queue = PostgresQueue(self.database)
        self.data = PostgresData(self.database)
        self.states = PostgresStates(self.database, COLLECTION, DIMENSIONS)
        self.shares = PostgresShares(self.database)
        self.keys = PostgresApiKeys(self.database)
        self.records = PostgresClientRecords(self.database)
        self.access = PostgresAccessRecord(self.database)
        self.maintenance = PostgresMaintenance(self.database, COLLECTION)
        self.administration = PostgresAdministration(self.database, COLLECTION)
        self.enqueue = partial(self.queue.enqueue, extracts=False, idempotency_key="k", most=9)

    async def fill(self) -> None:
        """A row of Ana's in every table, and a receipt, an epoch and a revision more."""
        hook = {"url": "https://a.example", "event_types": ["memory_add"], "application": None, "secret": "s"}
        await self.records.put(HERS, WEBHOOK, "wh_1", hook)
        gone, self.memory_id = await keep(self.store, ANA, memory("likes milk"), memory("likes tea"))
        await self.store.correct(ANA, self.memory_id, Patch(words="drinks tea", lexemes="drink tea"), BY)
        await self.set_aside()
        await self.data.put(ANA, "settings", {"tea": 1}, BY)
        await self.data.set_schema(ANA, "settings", {"type": "object"})
        self.state_id = (await self.states.save(HERS, created=CREATED)).id
        await self.store.forget(ANA, gone, BY)
        await self.store.forget_all(Scope("ana", "app:other"), BY, confirmed=None)
        await self.enqueue(ANA, {"tea": 1}, BY)
        self.claimed = await self.queue.claim("worker", LEASE)
        await self.shares.allow(HERS, source="app:a", reader="app:b")
        self.key, text = new_key("ana", "hers", application=None)
        await self.keys.keep(self.key, digest_of(text))
        await self.records.put(HERS, "feedback", self.memory_id, {"tea": 1})
        await self.access.note(HERS, Access("zoe", "list", Door.PLATFORM, None, 1, now()))

    async def set_aside(self) -> None:
        """Her memory, as one that the embedder refused."""
        known = await self.administration.find(self.memory_id)
        assert known is not None
        await self.maintenance.set_aside(Stale(ANA, known, meaning=True), seconds=60)

    def of_bob(self) -> Claimed:
        assert self.claimed is not None
        return replace(self.claimed, scope=BOB)

    def a_key_of_bob(self) -> ApiKey:
        assert self.key is not None
        return replace(self.key, owner="bob")

    async def read(self) -> list[Entry]:
        found: list[Entry] = []
        await self.states.read(HIS, found.extend)
        return found


async def _refreshed(kept: Kept) -> bool:
    memory_of = await kept.administration.find(kept.memory_id)
    assert memory_of is not None
    return await kept.maintenance.refresh(Stale(BOB, memory_of, meaning=True), lexemes="x", vector=None)


# What Bob asks for and does, with the ids of what is Ana's: each answers something falsy when it reached nothing.
ACTS: dict[str, Callable[[Kept], Awaitable[object]]] = {
    "list": lambda k: _of(k.store.page(HIS, limit=9), "memories"),
    "list an application": lambda k: _of(k.store.page(BOB, limit=9), "total"),
    "count": lambda k: k.store.count(HIS),
    "get": lambda k: k.store.get(HIS, k.memory_id),
    "search": lambda k: _of(k.store.candidates(BOB, vector=direction(1), lexemes=["tea"]), "found"),
    "correct": lambda k: k.store.correct(HIS, k.memory_id, Patch(words="hates tea", lexemes="hate tea"), BOBS),
    "forget": lambda k: k.store.forget(HIS, k.memory_id, BOBS),
    "forget all": lambda k: k.store.forget_all(HIS, BOBS, confirmed=None),
    "history": lambda k: k.store.history(HIS, k.memory_id),
    "receipts": lambda k: k.store.receipts(HIS, limit=9),
    "entities": lambda k: k.store.entities(HIS),
    "applications": lambda k: k.store.applications(HIS),
    "epoch": lambda k: k.store.epoch(Scope("bob", "app:other")),
    "learns": lambda k: _of(k.queue.page(HIS, limit=9), "events"),
    "a learn": lambda k: k.queue.get(HIS, k.of_bob().id),
    "the same learn": lambda k: _is(k.of_bob().id, _of(k.enqueue(BOB, {}, BOBS), "id")),
    "keep a learn": lambda k: k.queue.extend(k.of_bob(), "worker", LEASE),
    "put a learn back": lambda k: k.queue.put_back(k.of_bob(), "worker", after=LEASE),
    "end a learn": lambda k: k.queue.fail(k.of_bob(), "worker", "no"),
    "note on a learn": lambda k: k.queue.note(k.of_bob(), "worker", "no"),
    "data": lambda k: k.data.get(BOB, "settings"),
    "types": lambda k: k.data.types(BOB),
    "schema": lambda k: k.data.schema(BOB, "settings"),
    "forget data": lambda k: k.data.forget(BOB, "settings", BOBS),
    "remove a schema": lambda k: k.data.set_schema(BOB, "settings", None),
    "snapshots": lambda k: k.states.states(HIS),
    "a snapshot": lambda k: k.states.state(HIS, k.state_id),
    "a part of a snapshot": lambda k: k.states.part(HIS, k.state_id, 0),
    "forget a snapshot": lambda k: k.states.drop(HIS, k.state_id),
    "restore a snapshot": lambda k: k.states.restore(HIS, HIS, k.state_id, BOBS, respect_forgotten=False),
    "read everything": lambda k: k.read(),
    "erase": lambda k: _of(k.states.erase(HIS, BOBS, allowances=True, snapshots=True), "memories"),
    "allowances": lambda k: k.shares.allowed(HIS),
    "stop sharing": lambda k: k.shares.stop(HIS, source="app:a", reader="app:b"),
    "keys": lambda k: k.keys.of(HIS),
    "revoke": lambda k: k.keys.revoke(HIS, k.a_key_of_bob().id),
    "use a key": lambda k: k.keys.used(k.a_key_of_bob(), now()),
    "records": lambda k: k.records.of(HIS, "feedback"),
    "a record": lambda k: k.records.get(HIS, "feedback", k.memory_id),
    "drop a record": lambda k: k.records.drop(HIS, "feedback", k.memory_id),
    "accesses": lambda k: k.access.accesses(HIS, limit=9),
    "an administrator's list": lambda k: _of(k.administration.page(HIS, limit=9), "memories"),
    "refresh": _refreshed,
}


async def _of(answer: Awaitable[object], name: str) -> object:
    return getattr(await answer, name)


async def _is(expected: str, answer: Awaitable[object]) -> bool:
    return await answer == expected


@pytest.fixture
async def plain(database: str) -> AsyncIterator[asyncpg.Connection]:
    """A client that never says a person."""
    await prepare(database, COLLECTION, DIMENSIONS, with_ddl=True)
    connection = await asyncpg.connect(database)
    yield connection
    await connection.close()


async def everything_of_ana(plain: asyncpg.Connection) -> dict[str, list[str]]:
    """By table, each row of hers as it is."""
    found = {}
    for table in OF_PEOPLE:
        whose = "state_key IN (SELECT key FROM runtime_memory.states WHERE user_id = 'ana')"
        pinned = whose if table.endswith("state_parts") else "user_id = 'ana'"
        rows = await plain.fetch(f"SELECT t::text FROM {table} t WHERE {pinned} ORDER BY 1")  # noqa: S608 (constants)
        found[table] = [row[0] for row in rows]
    return found


async def test_ana_has_a_row_in_every_table(plain: asyncpg.Connection, database: str) -> None:
    opened = Database(database)
    await opened.open()
    await Kept(opened).fill()
    await opened.close()

    assert [table for table, rows in (await everything_of_ana(plain)).items() if not rows] == []


@pytest.mark.timeout(300)
@pytest.mark.parametrize("wall", [True, False])
async def test_without_the_conditions_nothing_of_anothers_is_read_or_changed(
    monkeypatch: pytest.MonkeyPatch,
    plain: asyncpg.Connection,
    database: str,
    wall: bool,  # noqa: FBT001 (a parameter)
) -> None:
    """Without the wall each of the same mistakes reaches what is Ana's: the test can fail."""
    pinned = Database(database)
    await pinned.open()
    with monkeypatch.context() as patched:
        patched.setattr(pool, "_Connection", Unpinned)
        unpinned = Database(database, Limits(row_security=wall))
        await unpinned.open()
    reached = []
    for name, act in ACTS.items():
        await plain.execute(f"TRUNCATE {', '.join(OF_PEOPLE)}")
        filled = Kept(pinned)
        await filled.fill()
        before = await everything_of_ana(plain)
        kept = Kept(unpinned, filled.memory_id, filled.claimed, filled.state_id, filled.key)
        if await act(kept) or await everything_of_ana(plain) != before:
            reached.append(name)
    await pinned.close()
    await unpinned.close()

    assert reached == ([] if wall else list(ACTS))
