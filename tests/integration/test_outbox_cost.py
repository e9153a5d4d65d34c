"""A change of a person without webhooks costs no statement more than before there were any."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from shared.client_records import WEBHOOK
from shared.db.preparing import prepare
from shared.records import Patch
from shared.scope import Everything
from shared.stores.pg.client_records import PostgresClientRecords
from shared.stores.pg.store import PostgresStore
from tests.conformance.build import ANA, BY, DIMENSIONS, keep, memory
from tests.integration.test_plans import COLLECTION, Watched


@pytest.fixture
async def watched(database: str) -> AsyncIterator[Watched]:
    await prepare(database, COLLECTION, DIMENSIONS, with_ddl=True)
    found = Watched(database)
    await found.open()
    yield found
    await found.close()


async def statements(watched: Watched) -> list[str]:
    """Of a learn, a correction and a forgetting."""
    store = PostgresStore(watched, COLLECTION)
    watched.seen.clear()
    [tea] = await keep(store, ANA, memory("tea"))
    await store.correct(ANA, tea, Patch("coffee", "coffee"), BY)
    await store.forget(ANA, tea, BY)
    return [query for query, _ in watched.seen]


async def test_a_change_without_webhooks_asks_no_statement_for_them(watched: Watched) -> None:
    await statements(watched)  # the connection is prepared
    without = await statements(watched)
    body = {"event_types": ["memory_add", "memory_update", "memory_delete"], "application": None}
    await PostgresClientRecords(watched).put(Everything(ANA.person), WEBHOOK, "all", body)
    within = await statements(watched)

    assert not [query for query in without if "deliveries" in query]
    assert len(within) == len(without) + 3, "with some, one a change"
    looks = [query for query in without if "kind = $2" in query and "EXISTS" in query]
    assert looks == [query for query in without if "advisory" in query], "it is asked with the lock"
