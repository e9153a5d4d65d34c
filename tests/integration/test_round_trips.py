"""A write of one memory asks PostgreSQL as few times as can be: each time more is waiting for everybody of its scope."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import asyncpg
import pytest

from shared.db.collection import Collection
from shared.db.pool import NOBODY, Database
from shared.db.preparing import prepare
from shared.records import Patch
from shared.stores.pg.store import PostgresStore
from tests.conformance.build import ANA, BY, DIMENSIONS, direction, keep, memory

COLLECTION = Collection("agent_memories")


class Watched(Database):
    """Notes every statement that is run on it."""

    def __init__(self, dsn: str) -> None:
        super().__init__(dsn)
        self.ran: list[str] = []

    @asynccontextmanager
    async def connection(self, person: str = NOBODY) -> AsyncIterator[asyncpg.pool.PoolConnectionProxy]:
        async with super().connection(person) as connection:
            with connection.query_logger(lambda ran: self.ran.append(ran.query)):
                yield connection


@pytest.fixture
async def watched(database: str) -> AsyncIterator[Watched]:
    await prepare(database, COLLECTION, DIMENSIONS, with_ddl=True)
    watched = Watched(database)
    await watched.open()
    yield watched
    await watched.close()


async def test_a_write_of_one_memory_takes_four_or_five_statements(watched: Watched) -> None:
    store = PostgresStore(watched, COLLECTION)
    patch = Patch(words="Drinks coffee", lexemes="drink coffee", vector=direction(1))
    acts: dict[str, Callable[[str], Awaitable[object]]] = {
        "add": lambda _: keep(store, ANA, memory("Lives in Brno")),
        "correct": lambda one: store.correct(ANA, one, patch, BY),
        "forget": lambda one: store.forget(ANA, one, BY),
        "forget all": lambda _: store.forget_all(ANA, BY, confirmed=None),
    }
    taken: dict[str, int] = {}
    for _ in range(2):  # the first time the driver asks for types besides
        (one,) = await keep(store, ANA, memory("Drinks tea"))
        for name, act in acts.items():
            watched.ran.clear()
            await act(one)
            taken[name] = len(watched.ran)

    assert taken == {"add": 4, "correct": 5, "forget": 4, "forget all": 4}
