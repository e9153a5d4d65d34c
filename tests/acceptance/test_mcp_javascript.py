"""Memory as MCP tools, through the official JavaScript clients: `@modelcontextprotocol/sdk` and `/client`."""

from __future__ import annotations

from typing import Any

import pytest

from runtime_svc.tools import NOT_SIGNED_IN
from tests.acceptance.mcp_clients import address, javascript
from tests.services import Service, bearer

CLIENTS = ("sdk", "client", "auto")
FACT = "Is vegetarian and avoids gluten"


def call(tool: str, **arguments: Any) -> list[Any]:
    return ["callTool", {"name": tool, "arguments": arguments}]


@pytest.mark.parametrize("client", CLIENTS)
async def test_every_tool_is_listed_and_called_as_a_person(runtime: Service, client: str) -> None:
    url, ana = address(runtime), bearer("ana")
    [kept] = await javascript(client, url, ana, call("remember", content=FACT))
    one = kept["structuredContent"]["id"]

    tools, found, listed, corrected, history, recent, prompt, refused, grown, forgotten, rest = await javascript(
        client,
        url,
        ana,
        ["listTools"],
        call("search_memory", query="what may I cook?"),
        call("list_memories"),
        call("correct_memory", memory_id=one, memory="Is vegan 🍵"),
        call("memory_history", memory_id=one),
        ["readResource", {"uri": "memory://app-1/recent"}],
        ["getPrompt", {"name": "recall", "arguments": {"topic": "food"}}],
        call("forget_memory", memory_id="nothing"),
        call("forget_all_memories", count=0),
        call("forget_memory", memory_id=one),
        call("forget_all_memories", count=0),
    )

    assert len(tools["tools"]) == 8
    assert found["structuredContent"]["memories"][0]["memory"] == FACT
    assert listed["structuredContent"]["total"] == 1
    assert corrected["structuredContent"]["memory"]["memory"] == "Is vegan 🍵"
    assert [entry["event"] for entry in history["structuredContent"]["history"]] == ["ADD", "UPDATE"]
    assert "Is vegan 🍵" in recent["contents"][0]["text"]
    assert "Is vegan 🍵" in prompt["messages"][0]["content"]["text"]
    assert refused["isError"]
    assert (grown["isError"], grown["structuredContent"]["total"]) == (True, 1)
    assert forgotten["structuredContent"] == {"forgotten": 1}
    assert rest["structuredContent"] == {"forgotten": 0}


@pytest.mark.parametrize("client", CLIENTS)
async def test_another_person_sees_nothing_and_nobody_hears_why(runtime: Service, client: str) -> None:
    url = address(runtime)
    await javascript(client, url, bearer("ana"), call("remember", content=FACT))

    [theirs] = await javascript(client, url, bearer("bob"), call("search_memory", query=FACT))
    nobodys = await javascript(client, url, {}, ["listTools"], call("search_memory", query=FACT), call("list_memories"))

    assert theirs["structuredContent"] == {"memories": [], "count": 0}
    assert len(nobodys[0]["tools"]) == 8
    for answered in nobodys[1:]:
        assert answered["content"][0]["text"] == NOT_SIGNED_IN
        assert answered["structuredContent"]["memories"] == []


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_foreign_origin_or_a_bad_token_does_not_connect(runtime: Service, client: str) -> None:
    for headers in ({**bearer("ana"), "Origin": "https://evil.example"}, {"Authorization": "Bearer nonsense"}):
        [answered] = await javascript(client, address(runtime), headers, ["listTools"])

        assert "refused" in answered
