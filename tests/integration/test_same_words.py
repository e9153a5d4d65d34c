"""The same words again cost nothing: no embedder is asked, and the memory stays as it was."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from tests.openai_server import OpenAIServer, openai_server
from tests.services import Service, start_runtime

APP = "/api/v1/apps/memories/desk"


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with openai_server() as one:
        yield one


@pytest.fixture
async def runtime(
    settings_environment: pytest.MonkeyPatch, database: str, server: OpenAIServer
) -> AsyncIterator[Service]:
    settings_environment.setenv("AGENT_RUNTIMES_MEM0_CONFIG_JSON", json.dumps({"embedder": server.embedder()}))
    settings_environment.setenv("MEMORY_VECTOR_DIMENSIONS", str(server.dimensions))
    service = await start_runtime(database)
    yield service
    await service.client.close()


@pytest.mark.field("S13")
async def test_the_same_words_and_metadata_alone_are_kept_while_the_embedder_is_down(
    runtime: Service, server: OpenAIServer
) -> None:
    _, said = await runtime.post(APP, json={"memory": "likes tea", "wait": True}, uid="ana")
    one = said["results"][0]["id"]
    _, before = await runtime.get(f"{APP}/{one}", uid="ana")
    server.embed_status, asked = 500, len(server.embedded)

    status, after = await runtime.patch(f"{APP}/{one}", json={"memory": " likes  tea "}, uid="ana")
    assert (status, after["memory"]) == (200, before["memory"])
    status, changed = await runtime.put(f"/v1/memories/{one}/", json={"metadata": {"colour": "red"}}, uid="ana")
    assert (status, changed["memory"], changed["metadata"]) == (200, "likes tea", {"colour": "red"})
    assert len(server.embedded) == asked

    assert (await runtime.patch(f"{APP}/{one}", json={"memory": "likes coffee"}, uid="ana"))[0] >= 500
