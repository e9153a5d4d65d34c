"""Our Python client against both services really running."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

import runtime_memory_client as library
from runtime_memory_client import AgentRuntimesClient, NetworkError, RunResponseError, TokenExpiredError
from tests.acceptance.conftest import Together
from tests.services import token

KEY = "app:diary"
NOWHERE = "http://127.0.0.1:1"


@pytest.fixture
async def ana(together: Together) -> AsyncIterator[AgentRuntimesClient]:
    runtime = str(together.runtime.client.make_url("/"))
    async with AgentRuntimesClient(token("ana"), base_url=together.address, runtime_url=runtime) as client:
        yield client


async def learn(client: AgentRuntimesClient, *facts: str) -> list[str]:
    return [(await client.learn("diary", memory=fact, wait=True))["results"][0]["id"] for fact in facts]


async def test_functions_list_correct_forget_and_share(together: Together, ana: AgentRuntimesClient) -> None:
    tea, monday = await learn(ana, "Likes tea", "Reads reports on Mondays")
    mine, at = token("ana"), together.address.rstrip("/")

    listed = await library.list_runtime_memories(mine, agent_id=f" {KEY} ", limit=1, offset=-3, base_url=at)
    assert [m["id"] for m in listed["memories"]] == [monday]
    assert (listed["count"], listed["total"], listed["limit"]) == (1, 2, 1)
    rest = await library.list_runtime_memories(mine, agent_id=KEY, cursor=listed["next"], base_url=at)
    assert ([m["id"] for m in rest["memories"]], rest["next"]) == ([tea], None)
    corrected = await library.correct_runtime_memory(mine, tea, " Likes  green tea", base_url=at)
    assert (corrected["memory"], corrected["corrected_by"]) == ("Likes green tea", "ana")
    assert (await library.get_runtime_memory(mine, tea, base_url=at))["memory"] == "Likes green tea"
    share = await library.allow_runtime_memory_share(mine, f" {KEY} ", "app:desk", base_url=at)
    assert (share["source"], share["reader"]) == (KEY, "app:desk")
    assert await library.list_runtime_memory_shares(mine, reader="app:desk", base_url=at) == [share]
    await library.stop_runtime_memory_share(mine, KEY, "app:desk", base_url=at)
    with pytest.raises(RunResponseError) as grew:
        await library.forget_runtime_memories(mine, KEY, 1, base_url=at)
    assert (grew.value.status, grew.value.body["total"]) == (409, 2)
    assert await library.forget_runtime_memory(mine, tea, base_url=at) == 1
    assert await library.forget_runtime_memories(mine, KEY, 1, base_url=at) == 1


@pytest.mark.parametrize(
    ("name", "args", "sentence"),
    [
        ("get_runtime_memory", ["  "], "Memory id is required"),
        ("correct_runtime_memory", ["m1", "  "], "What it should remember is required"),
        ("forget_runtime_memories", [KEY, -1], "Forgetting needs the count confirmed, not -1."),
        ("forget_runtime_memories", [KEY, True], "Forgetting needs the count confirmed, not True."),
        ("forget_runtime_memories", [" ", 1], "Agent id is required"),
        ("allow_runtime_memory_share", ["", KEY], "The application remembering is required"),
        ("stop_runtime_memory_share", [KEY, " "], "The application reading is required"),
    ],
)
async def test_what_cannot_be_is_refused_before_anything_is_sent(name: str, args: list, sentence: str) -> None:
    with pytest.raises(ValueError, match="^" + sentence.replace(".", r"\.") + "$"):
        await getattr(library, name)(token("ana"), *args, base_url=NOWHERE)


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ("", "Authentication token is required"),
        ("m0-key", "three parts"),
        ("a..c", "Part 2 is empty"),
        ("a.b!.c", "Part 2 contains invalid characters"),
        ("a.b.c", "too short to be a valid JWT"),
        ("x" * 60 + ".b." + "c" * 60, "JWT header is not valid"),
        (token("ana", ttl=-60), "Token has expired"),
        (token("ana", nbf=2**33), "Token is not yet valid"),
    ],
)
async def test_a_token_that_cannot_hold_is_refused_before_anything_is_sent(bad: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        await library.list_runtime_memories(bad, base_url=NOWHERE)


async def test_faults_have_kinds_of_their_own(together: Together) -> None:
    at = together.address.rstrip("/")

    with pytest.raises(RunResponseError) as refused:
        await library.list_runtime_memories(token("ana", secret="x" * 40), base_url=at)
    assert (refused.value.status, type(refused.value)) == (401, RunResponseError)
    assert str(refused.value) == refused.value.detail != ""
    with pytest.raises(NetworkError):
        await library.list_runtime_memories(token("ana"), base_url=NOWHERE)
    assert issubclass(TokenExpiredError, RunResponseError)
    async with asyncio.timeout(60):
        given_up = asyncio.create_task(library.list_runtime_memories(token("ana"), base_url=at))
        await asyncio.sleep(0)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up


async def test_the_client_learns_searches_recalls_and_tells_what_became_of_it(ana: AgentRuntimesClient) -> None:
    diet, meetings = await learn(ana, "I am vegetarian", "Meetings are on Tuesdays")

    assert [m["id"] for m in (await ana.search("diary", "what may I cook", limit=1))["memories"]] == [diet]
    recalled = await ana.recall("diary", "what may I cook")
    assert recalled["context"].startswith("[Relevant memories about this user:]\n- I am vegetarian")
    found = await ana.list_runtime_memories(q="meetings")
    assert [m["id"] for m in found["memories"]] == [meetings]
    await ana.correct_runtime_memory(diet, "I am vegan")
    assert [r["new_memory"] for r in await ana.history(diet)] == ["I am vegetarian", "I am vegan"]
    assert [(a["app"], a["total"]) for a in await ana.applications()] == [(KEY, 2)]
    assert await ana.forget_runtime_memory(diet) == 1
    assert [(r["app"], r["forgotten"]) for r in await ana.receipts(limit=5)] == [(KEY, 1)]
    assert await ana.access() == []


async def test_the_client_keeps_snapshots_and_keys(ana: AgentRuntimesClient) -> None:
    await learn(ana, "Likes tea")

    saved = await ana.save_snapshot()
    assert [s["id"] for s in await ana.list_snapshots()] == [saved["id"]]
    document = await ana.download_snapshot(saved["id"])
    assert "Likes tea" in json.dumps(json.loads(document))
    assert await ana.forget_runtime_memories(KEY, 1) == 1
    assert (await ana.restore_snapshot(saved["id"]))["restored"]["cameBack"] == 1
    assert (await ana.current_state())["id"] == (await ana.get_snapshot(saved["id"]))["id"]
    await ana.delete_snapshot(saved["id"])
    assert (await ana.import_snapshot(document))["id"] == saved["id"]
    made = await ana.create_api_key("desk", application=KEY)
    assert [k["id"] for k in await ana.list_api_keys()] == [made["id"]]
    await ana.revoke_api_key(made["id"])
    assert await ana.list_api_keys() == []


async def test_a_runtime_that_stands_alone_is_reached_without_a_platform(together: Together) -> None:
    runtime = str(together.runtime.client.make_url("/"))
    async with AgentRuntimesClient(token("ana"), base_url=None, runtime_url=runtime) as client:
        await learn(client, "Likes tea")

        assert [a["app"] for a in await client.applications()] == [KEY]
        with pytest.raises(ValueError, match="stands alone"):
            await client.list_runtime_memories()
