"""One table, two clients: a stock mem0 `pgvector` store and ours read and write the same memories."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest

from runtime_svc.engine.embedder import MiniLM
from tests.acceptance.test_first_slice import APP, PLATFORM, learn
from tests.services import Service


@pytest.fixture
def stock(database: str) -> Any:
    """mem0's own store object on the same table, as released."""
    from mem0.vector_stores.pgvector import PGVector

    return PGVector(
        dbname="x",
        collection_name="agent_memories",
        embedding_model_dims=384,
        user=None,
        password=None,
        host=None,
        port=None,
        diskann=False,
        hnsw=False,
        connection_string=database,
    )


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
async def test_a_stock_client_reads_what_we_write_and_we_find_what_it_writes(
    runtime: Service, platform: Service, stock: Any
) -> None:
    [mine] = await learn(runtime, "I am vegetarian and avoid gluten")
    theirs = str(uuid.uuid4())
    embedder = await MiniLM.open()
    [vector] = await embedder.embed(["Plays the cello in an orchestra"])
    await embedder.close()
    scope = {"user_id": "owner-1", "agent_id": "app:app-1"}
    payload = {
        "data": "Plays the cello in an orchestra",
        "hash": "h",
        "created_at": "2020-01-01T00:00:00-08:00",
        **scope,
    }

    read = await asyncio.to_thread(stock.get, mine)
    listed = await asyncio.to_thread(stock.list, scope, 10)
    await asyncio.to_thread(stock.insert, [vector.tolist()], [payload], [theirs])
    found = await asyncio.to_thread(stock.search, "cello", vector.tolist(), 2, scope)
    by_word = await asyncio.to_thread(stock.keyword_search, "vegetarian", 5, scope)

    assert read.payload["data"] == "I am vegetarian and avoid gluten"
    assert [str(row.id) for row in listed[0]] == [mine]
    assert str(found[0].id) == theirs
    assert [str(row.id) for row in by_word] == [mine]
    status, said = await runtime.get(APP)
    assert (status, [m["id"] for m in said["memories"]]) == (200, [mine, theirs])
    _, said = await runtime.post(f"{APP}/search", json={"query": "musical instruments"})
    assert said["memories"][0]["id"] == theirs
    status, said = await platform.patch(f"{PLATFORM}/{theirs}", json={"memory": "Plays the viola"})
    assert (status, said["memory"]["memory"]) == (200, "Plays the viola")
    assert (await asyncio.to_thread(stock.get, theirs)).payload["data"] == "Plays the viola"
