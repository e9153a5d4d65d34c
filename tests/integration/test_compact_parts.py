"""A large scope is looked through in parts, and read afterwards: what happens between, and to one part alone."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator

import asyncpg
import pytest

from shared.candidates import Candidates
from shared.db.pool import Database, Limits
from shared.db.preparing import prepare
from shared.errors import Unavailable
from shared.scope import Scope
from shared.stores.pg import compact, search
from shared.stores.pg.compact import CompactSearch
from shared.stores.pg.scanned import ByWords, Nearest
from shared.stores.pg.store import PostgresStore
from tests.conformance.build import memory
from tests.integration.test_compact_search import ANA, BY, DIMENSIONS, TABLE, vector


@pytest.fixture
async def database(database: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Database]:
    """With two connections; every reach is taken for a large one."""
    monkeypatch.setattr(search, "FEW", -1)
    await prepare(database, TABLE, DIMENSIONS, with_ddl=True)
    opened = Database(database, Limits(connections=2))
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
async def store(database: Database) -> PostgresStore:
    chance = random.Random(5)
    store = PostgresStore(database, TABLE)
    await store.commit(ANA, [memory(f"tea n{n}q", vector=vector(chance)) for n in range(60)], BY)
    return store


async def sought(store: PostgresStore, scope: Scope = ANA) -> Candidates:
    return await store.candidates(scope, vector=vector(random.Random(6)), lexemes=["tea"], limit=80)


async def test_what_is_forgotten_between_the_look_and_the_reading_is_not_found(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = [one.id for one in (await store.page(ANA, limit=7)).memories]
    reading = CompactSearch._found

    async def forget_first(self: CompactSearch, nearest: Nearest, by_words: ByWords) -> list[asyncpg.Record]:
        for one in gone:
            await store.forget(ANA, one, BY)
        return await reading(self, nearest, by_words)

    monkeypatch.setattr(CompactSearch, "_found", forget_first)

    found = {one.memory.id for one in (await sought(store)).found}

    assert len(found) == 53
    assert not found & set(gone)


async def test_many_searches_share_few_connections(store: PostgresStore) -> None:
    async with asyncio.timeout(60):
        answers = await asyncio.gather(*(sought(store) for _ in range(24)))

    assert {len(answer.found) for answer in answers} == {60}


async def test_a_part_that_fails_fails_the_search_with_a_sentence_and_gives_every_connection_back(
    store: PostgresStore, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    halves = compact._HALVES
    monkeypatch.setattr(compact, "_HALVES", (halves[0], " AND pg_terminate_backend(pg_backend_pid())"))

    with pytest.raises(Unavailable, match="cannot be reached"):
        await sought(store)

    assert database.in_use == 0
    monkeypatch.setattr(compact, "_HALVES", halves)
    assert len((await sought(store)).found) == 60


async def test_off_the_event_loop_the_same_is_found(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    here = await sought(store)

    monkeypatch.setattr(compact, "_AT_ONCE", 0)
    there = await sought(store)

    assert [one.memory.id for one in there.found] == [one.memory.id for one in here.found]
    assert len(here.found) == 60


async def test_a_scope_with_nothing_is_searched(store: PostgresStore) -> None:
    await store.commit(Scope("ana", "app:other"), [memory("tea", vector=vector(random.Random(1)))], BY)

    answer = await sought(store, Scope("ana", "app:none"))

    assert (list(answer.found), answer.size, answer.mean_length) == ([], 0, 0.0)
