"""Released Datalayer software, unmodified, against the running services: its browser client, its `read_shares`, its CLI."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.acceptance.conftest import Together
from tests.acceptance.released import JavaScriptClient, python_says
from tests.services import Service, token

pytestmark = pytest.mark.timeout(900)  # the first run fetches the released packages

APP = "/api/v1/apps/memories/01ABC"
KEY = "app:01ABC"


@pytest.fixture
async def client(together: Together) -> AsyncIterator[JavaScriptClient]:
    found = await JavaScriptClient.start(together.address)
    yield found
    await found.stop()


async def learn(runtime: Service, *facts: str, uid: str = "ana") -> list[str]:
    ids = []
    for fact in facts:
        status, said = await runtime.post(APP, json={"memory": fact, "wait": True}, uid=uid)
        assert status == 200, said
        ids.append(said["results"][0]["id"])
    return ids


async def test_the_browser_client_lists_and_gets(together: Together, client: JavaScriptClient) -> None:
    tea, monday = await learn(together.runtime, "Likes tea", "Reads reports on Mondays")
    ana = token("ana")

    listed = (await client("listRuntimeMemories", ana, {"agentId": f" {KEY} ", "limit": 5000, "offset": -3}))["value"]
    assert [m["id"] for m in listed["memories"]] == [monday, tea]
    assert (listed["success"], listed["count"], listed["limit"], listed["offset"]) == (True, 2, 1000, 0)
    assert listed["user_id"] == "ana"
    second = (await client("listRuntimeMemories", ana, {"userId": "ana", "limit": 1, "offset": 1}))["value"]
    assert [m["memory"] for m in second["memories"]] == ["Likes tea"]
    everything = (await client("listRuntimeMemories", ana, {}))["value"]
    assert (everything["count"], everything["limit"]) == (2, 100)

    got = (await client("getRuntimeMemory", ana, tea))["value"]["memory"]
    assert (got["memory"], got["user_id"], got["agent_id"]) == ("Likes tea", "ana", KEY)
    assert set(got) >= {"hash", "run_id", "actor_id", "role", "scope", "created_at", "updated_at", "metadata"}
    assert set(got) >= {"corrected_by", "corrected_at"}


async def test_the_browser_client_corrects_and_the_runtime_shows_it(
    together: Together, client: JavaScriptClient
) -> None:
    [tea] = await learn(together.runtime, "Likes tea")

    corrected = (await client("correctRuntimeMemory", token("ana"), tea, "  Likes  green tea "))["value"]
    assert corrected["memory"]["memory"] == "Likes green tea"
    assert corrected["memory"]["corrected_by"] == "ana"
    assert corrected["memory"]["corrected_at"]
    blank = await client("correctRuntimeMemory", token("ana"), tea, "   ")
    assert blank["error"] == "What it should remember is required"
    too_long = await client("correctRuntimeMemory", token("ana"), tea, "x" * 2001)
    assert (too_long["status"], too_long["kind"]) == (422, "RunResponseError")
    assert too_long["error"] == "A correction is at most 2000 characters, not 2001."

    assert (await together.runtime.get(APP, uid="ana"))[1]["memories"][0]["memory"] == "Likes green tea"


async def test_the_browser_client_forgets_one_and_all(together: Together, client: JavaScriptClient) -> None:
    tea, *_ = await learn(together.runtime, "Likes tea", "Likes coffee", "Likes water")
    ana = token("ana")

    assert (await client("forgetRuntimeMemory", ana, tea))["value"] == {"success": True, "forgotten": 1}
    again = await client("forgetRuntimeMemory", ana, tea)
    assert (again["status"], again["error"]) == (404, "Nothing is remembered by that id.")
    grew = await client("forgetRuntimeMemories", ana, KEY, 1)
    assert grew["status"] == 409
    assert grew["error"] == "It remembers more than the 1 you confirmed now. Nothing was forgotten."
    assert (await client("forgetRuntimeMemories", ana, KEY, -1))[
        "error"
    ] == "Forgetting needs the count confirmed, not -1."
    assert (await client("forgetRuntimeMemories", ana, KEY, 2))["value"] == {"success": True, "forgotten": 2}
    assert (await client("listRuntimeMemories", ana, {"agentId": KEY}))["value"]["memories"] == []


async def test_the_browser_client_allows_lists_and_stops_shares(together: Together, client: JavaScriptClient) -> None:
    ana = token("ana")
    share = (await client("allowRuntimeMemoryShare", ana, f" {KEY} ", "app:desk"))["value"]
    assert (share["source"], share["reader"]) == (KEY, "app:desk")
    assert (await client("allowRuntimeMemoryShare", ana, KEY, "app:desk"))["value"] == share

    for asked in ({}, {"source": KEY}, {"reader": "app:desk"}):
        assert (await client("listRuntimeMemoryShares", ana, asked))["value"] == [share]
    assert (await client("listRuntimeMemoryShares", ana, {"source": "app:else"}))["value"] == []
    assert (await client("listRuntimeMemoryShares", token("bob"), {}))["value"] == []
    own = await client("allowRuntimeMemoryShare", ana, KEY, KEY)
    assert own["status"] == 422
    assert (await client("allowRuntimeMemoryShare", ana, "", KEY))["error"] == "The application remembering is required"

    assert "error" not in await client("stopRuntimeMemoryShare", ana, KEY, "app:desk")
    gone = await client("stopRuntimeMemoryShare", ana, KEY, "app:desk")
    assert (gone["status"], gone["error"]) == (404, "That was never allowed.")


async def test_the_browser_client_reaches_nobody_elses(together: Together, client: JavaScriptClient) -> None:
    [tea] = await learn(together.runtime, "Likes tea")
    bob = token("bob")

    for name, *args in (
        ("getRuntimeMemory", tea),
        ("correctRuntimeMemory", tea, "mine"),
        ("forgetRuntimeMemory", tea),
        ("getRuntimeMemory", "a/b c"),
    ):
        answer = await client(name, bob, *args)
        assert answer["status"] == 404, answer
    assert (await client("listRuntimeMemories", bob, {"userId": "ana"}))["status"] == 403
    assert (await client("listRuntimeMemories", bob, {"agentId": KEY}))["value"]["memories"] == []
    refused = await client("listRuntimeMemories", token("bob", secret="x" * 40), {})
    assert refused["status"] == 401


READ_SHARES = """
import asyncio, sys
from agent_runtimes.loop.apps.memory import SharesUnread, read_shares
try:
    print("SHARES", asyncio.run(read_shares(sys.argv[1], sys.argv[2])))
except SharesUnread as unread:
    print("UNREAD", unread)
"""


async def test_a_released_runtime_reads_what_a_person_allowed(together: Together) -> None:
    pair = {"source": KEY, "reader": "app:desk"}
    await together.platform.put("/api/runtimes/v1/memory-shares", json=pair, uid="ana")
    asks = {"DATALAYER_RUNTIMES_URL": together.address}

    for uid, said in (("ana", f"SHARES ('{KEY}',)"), ("bob", "SHARES ()")):
        code, output = await python_says(READ_SHARES, "app:desk", token(uid), **asks)
        assert code == 0, output
        assert said in output
    _, output = await python_says(READ_SHARES, "app:desk", token("ana", ttl=-10), **asks)
    assert "the runtimes service answered 401." in output


COMMAND = "import sys; from agent_runtimes.commands.memory import app; app(sys.argv[1:])"


async def test_the_released_command_lists_inspects_and_counts(together: Together) -> None:
    [tea] = await learn(together.runtime, "Likes tea")
    await learn(together.runtime, "Likes water", uid="root")
    where = ["--runtimes-url", together.address.rstrip("/"), "--api-key", token("root", roles=["platform_admin"])]

    code, output = await python_says(COMMAND, "stats", *where)
    assert code == 0, output
    assert "Total memories: 2" in output
    assert "Distinct users: 2" in output
    code, output = await python_says(COMMAND, "ls", "--user", "ana", "--agent", KEY, *where)
    assert code == 0, output
    assert tea in output
    assert "Likes tea" in output
    assert "Likes water" not in output
    code, output = await python_says(COMMAND, "inspect", tea, *where)
    assert code == 0, output
    assert "Likes tea" in output

    person = ["--runtimes-url", together.address.rstrip("/"), "--api-key", token("bob")]
    code, output = await python_says(COMMAND, "stats", *person)
    assert code == 1
    assert "403" in output
