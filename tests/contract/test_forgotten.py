"""What was forgotten never comes back: not after more is learned, not in another process that had it."""

from __future__ import annotations

import pytest

from tests.services import Service, start_runtime

APP = "/api/v1/apps/memories/desk"


async def learn(runtime: Service, words: str) -> str:
    status, said = await runtime.post(APP, json={"memory": words, "wait": True}, uid="ana")
    assert status == 200, said
    return said["results"][0]["id"]


async def everywhere(runtime: Service, query: str) -> str:
    """All that searching, recalling and the tool say."""
    said = [
        await runtime.post(f"{APP}/search", json={"query": query}, uid="ana"),
        await runtime.post(f"{APP}/recall", json={"query": query}, uid="ana"),
        await runtime.post("/api/v1/apps/tools/desk/search_memory", json={"query": query}, uid="ana"),
    ]
    return str(said)


@pytest.mark.field("B55")
async def test_what_was_forgotten_is_not_said_again_when_more_is_learned(runtime: Service) -> None:
    gone = await learn(runtime, "The code of the garage is zanzibar")
    await learn(runtime, "The code of the house is lisbon")
    assert "zanzibar" in await everywhere(runtime, "the code of the garage")

    assert (await runtime.delete(f"{APP}/{gone}", uid="ana"))[0] == 200
    await learn(runtime, "The code of the office is oslo")

    said = await everywhere(runtime, "the code of the garage")
    assert "zanzibar" not in said
    assert "lisbon" in said
    assert "oslo" in said


@pytest.mark.field("B53")
async def test_what_another_process_forgot_leaves_nothing_behind_in_this_one(
    settings_environment: pytest.MonkeyPatch, database: str
) -> None:
    first, second = await start_runtime(database), await start_runtime(database)
    gone = await learn(first, "Met Bartholomew in Oslo")
    await learn(first, "Likes tea")
    assert "Bartholomew" in await everywhere(first, "Bartholomew")

    assert (await second.delete(f"{APP}/{gone}", uid="ana"))[0] == 200

    said = await everywhere(first, "Bartholomew")
    assert "Bartholomew in Oslo" not in said
    assert "Likes tea" in said
    for service in (first, second):
        await service.client.close()
