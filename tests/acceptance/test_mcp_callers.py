"""Who uses the tools: a person, another one, a key, the machine, somebody in another's name, and nobody."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest
from click.testing import CliRunner

from runtime_svc.tools import EMBEDDED, NOT_SIGNED_IN
from shared.cli import main
from tests.acceptance.mcp_clients import FACTS, MODES, TOOLS, python_client, refused, remember_all, say
from tests.services import MACHINE, Service, bearer


async def key_of(runtime: Service, uid: str, **said: Any) -> dict[str, str]:
    status, view = await runtime.post("/api/v1/apps/api-keys", uid=uid, json=said)
    assert status == 201, view
    return {"X-API-Key": view["key"]}


async def test_a_person_never_reaches_anothers_through_the_tools(runtime: Service) -> None:
    async with python_client(runtime, uid="ana") as client:
        [mine, *_] = await remember_all(client)

    for uid, app in (("bob", "app-1"), ("ana", "app-2"), ("ANA", "app-1")):
        async with python_client(runtime, uid=uid, app=app) as client:
            assert (await say(client, "search_memory", query=FACTS[0]))["memories"] == []
            assert (await say(client, "list_memories"))["total"] == 0
            unknown = str(uuid.uuid4())
            for tool, more in (("correct_memory", {"memory": "x"}), ("forget_memory", {}), ("memory_history", {})):
                theirs = await refused(client, tool, memory_id=mine, **more)
                assert theirs == await refused(client, tool, memory_id=unknown, **more)
            assert await say(client, "forget_all_memories", count=99) == {"forgotten": 0}

    async with python_client(runtime, uid="ana") as client:
        assert (await say(client, "list_memories"))["total"] == 3


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("claims", "sentence"), [(None, NOT_SIGNED_IN), ({"embed": True}, EMBEDDED)])
async def test_nobody_is_answered_in_a_sentence_and_nothing_is_read_or_kept(
    runtime: Service, mode: str, claims: dict[str, Any] | None, sentence: str
) -> None:
    headers = {} if claims is None else bearer("visitor", **claims)
    arguments = {"query": "x", "content": "x", "memory_id": "x", "memory": "x", "count": 1, "type": "x", "data": 1}

    async with python_client(runtime, uid=None, mode=mode, **headers) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        for name in TOOLS:
            answered = await client.call_tool(name, arguments)
            assert (answered.is_error, answered.content[0].text) == (False, sentence)
            assert answered.structured_content["note"] == sentence
        [recent] = (await client.read_resource("memory://app-1/recent")).contents
        assert recent.text == sentence
        [message] = (await client.get_prompt("recall", {"topic": "x"})).messages
        assert message.content.text == sentence


async def test_the_machine_remembers_as_its_owner(runtime: Service) -> None:
    machine = {"Authorization": f"Bearer {MACHINE}"}
    async with python_client(runtime, uid=None, **machine) as client:
        await remember_all(client)

    async with python_client(runtime, uid="owner-1") as client:
        assert (await say(client, "list_memories"))["total"] == 3


async def test_a_bound_key_uses_its_application_and_no_other(runtime: Service) -> None:
    key = await key_of(runtime, "ana", application="app-1")
    async with python_client(runtime, uid=None, **key) as client:
        await remember_all(client)
        assert (await say(client, "search_memory", query="music"))["memories"][0]["memory"] == FACTS[0]

    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert (await runtime.post("/mcp/app-2", uid=None, json=listing, headers=key))[0] == 403


async def test_what_is_done_in_anothers_name_stands_in_that_persons_record(
    runtime: Service, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATALAYER_POSTGRESQL_AGENT_MEMORIES_URI", database)
    arguments = ["key", "create", "--owner", "ops", "--scope", "users:impersonate", "--all-applications"]
    made = await asyncio.to_thread(CliRunner().invoke, main, arguments)
    headers = {"X-API-Key": made.output.strip(), "X-On-Behalf-Of": "ana"}

    async with python_client(runtime, uid=None, **headers) as client:
        await client.list_tools()
        await say(client, "remember", content=FACTS[0])
        await say(client, "search_memory", query=FACTS[0])
        await client.read_resource("memory://app-1/recent")
        await refused(client, "forget_memory", memory_id="x")

    _, said = await runtime.get("/api/v1/apps/memory-access", uid="ana")
    record = [(one["actor"], one["door"], one["verb"], one["memories"], one["app"]) for one in said["access"]]
    assert record == [("ops", "mcp", verb, 1, "app:app-1") for verb in ("list", "search", "learn")]
