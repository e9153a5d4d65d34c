"""A reranker through mem0's providers: off unless configured and asked for, and never in the way."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.acceptance.test_first_slice import APP, learn
from tests.openai_server import OpenAIServer, openai_server
from tests.services import Service, start_runtime

FACTS = ("Likes green tea", "Likes black tea", "Likes tea with milk")


@pytest.fixture
async def server():
    async with openai_server() as running:
        yield running


async def reranking(environment: pytest.MonkeyPatch, database: str, server: OpenAIServer, **more: str) -> Service:
    llm = {"api_key": "secret-api-key", "openai_base_url": server.url, "model": "m"}
    reranker = {"provider": "llm_reranker", "config": {"llm": {"provider": "openai", "config": llm}}}
    environment.setenv("AGENT_RUNTIMES_MEM0_CONFIG_JSON", json.dumps({"reranker": reranker}))
    environment.setenv("RUNTIME_RERANK_TIMEOUT", "60")
    for name, value in more.items():
        environment.setenv(name, value)
    runtime = await start_runtime(database)
    await learn(runtime, *FACTS)
    return runtime


def milk_first(asked: dict[str, Any]) -> str:
    return "0.9" if "milk" in asked["messages"][-1]["content"].partition("Document:")[2] else "0.2"


async def found(runtime: Service, **more: Any) -> list[dict[str, Any]]:
    status, said = await runtime.post(f"{APP}/search", json={"query": "green tea", **more})
    assert status == 200, said
    return said["memories"]


async def test_a_configured_reranker_orders_what_was_found_where_it_is_asked_for(
    settings_environment, database, server
) -> None:
    server.answer = milk_first
    runtime = await reranking(settings_environment, database, server)

    plain, again = await found(runtime), await found(runtime, rerank=True, explain=True)
    await runtime.client.close()

    assert plain[0]["memory"] == "Likes green tea"
    assert (again[0]["memory"], again[0]["score"]) == ("Likes tea with milk", 0.9)
    assert again[0]["explain"]["rerank"] == 0.9
    assert {one["memory"] for one in again} == set(FACTS)


async def test_one_that_is_too_slow_leaves_the_own_order(settings_environment, database, server) -> None:
    server.gate.hold()
    runtime = await reranking(settings_environment, database, server, RUNTIME_RERANK_TIMEOUT="0.2")

    assert await found(runtime, rerank=True) == await found(runtime)
    await server.asked()
    await runtime.client.close()
