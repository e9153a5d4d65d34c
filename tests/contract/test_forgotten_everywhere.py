"""What was forgotten by any route is read by none, on both stores; a copy that the person made is told of."""

from __future__ import annotations

import json
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.acceptance.mem0_key import Program, program
from tests.services import Service, bearer

APP = "/api/v1/apps/memories/desk"
GATEWAY = "/api/v1/llm/gateway"
PLATFORM = "/api/runtimes/v1/memories"
WORDS = "Lives in Zanzibar by the sea"
OTHER = "Likes green tea"
QUESTION = "Where in Zanzibar?"
WITHIN = {"filters": {"app_id": "desk"}}


@dataclass
class Story:
    """One memory that is forgotten, beside one that may stay; known at every door."""

    runtime: Service
    platforms: list[Service]
    mem0: Program
    id: str
    event: str
    export: str

    @property
    def whole(self) -> Service:
        """Which service has the person's whole memory."""
        return (self.platforms or [self.runtime])[0]

    async def ask(self, method: str, path: str, *, service: Service | None = None, **more: Any) -> str:
        status, said = await (service or self.runtime).call(method, path, uid="ana", **more)
        assert status in {200, 404}, (path, said)
        return json.dumps(said)

    async def program(self, method: str, path: str, **more: Any) -> str:
        headers = {"Authorization": f"Token {self.mem0.key}"}
        status, said = await self.runtime.call(method, path, uid=None, headers=headers, **more)
        assert status in {200, 404}, (path, said)
        return json.dumps(said)

    async def mcp(self, method: str, **params: Any) -> str:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {"Accept": "application/json", **bearer("ana")}
        status, said = await self.runtime.post("/mcp/desk", uid=None, json=message, headers=headers)
        assert status == 200, said
        return json.dumps(said)

    async def tool(self, name: str, **arguments: Any) -> str:
        return await self.mcp("tools/call", name=name, arguments=arguments)

    async def readings(self) -> dict[str, str]:
        """What every route that reads memories answers."""
        mine, gateway_id = self.id, f"mem_{self.id.replace('-', '')}"
        found = {
            "list": await self.ask("GET", APP, params={"show_expired": "true"}),
            "one": await self.ask("GET", f"{APP}/{mine}"),
            "history": await self.ask("GET", f"{APP}/{mine}/history"),
            "search": await self.ask("POST", f"{APP}/search", json={"query": QUESTION, "explain": True}),
            "recall": await self.ask("POST", f"{APP}/recall", json={"query": QUESTION}),
            "tool": await self.ask("POST", "/api/v1/apps/tools/desk/search_memory", json={"query": QUESTION}),
            "event": await self.ask("GET", f"/api/v1/apps/memory-events/{self.event}"),
            "gateway list": await self.ask("POST", f"{GATEWAY}/list-memories", json={}),
            "gateway search": await self.ask("POST", f"{GATEWAY}/search-memories", json={"query": QUESTION}),
            "gateway one": await self.ask("POST", f"{GATEWAY}/get-memory", json={"memory_id": gateway_id}),
            "mem0 list 1": await self.program("GET", "/v1/memories/", params={"user_id": "ana"}),
            "mem0 one": await self.program("GET", f"/v1/memories/{mine}/"),
            "mem0 history": await self.program("GET", f"/v1/memories/{mine}/history/"),
            "mem0 event": await self.program("GET", f"/v1/event/{self.event}/"),
            "mem0 events": await self.program("GET", "/v1/events/"),
            "mem0 summary": await self.program("POST", "/v1/summary/", json=WITHIN),
            "mem0 export": await self.program("POST", "/v1/exports/get/", json={"memory_export_id": self.export}),
            "mcp list": await self.tool("list_memories"),
            "mcp search": await self.tool("search_memory", query=QUESTION),
            "mcp history": await self.tool("memory_history", memory_id=mine),
            "mcp resource": await self.mcp("resources/read", uri="memory://desk/recent"),
            "mcp prompt": await self.mcp("prompts/get", name="recall", arguments={"topic": QUESTION}),
            "whole": await self.ask("GET", "/api/memory/state", service=self.whole),
        }
        for number in (1, 2, 3):
            asked = {"query": QUESTION, "threshold": 0, **WITHIN}
            found[f"mem0 search {number}"] = await self.program("POST", f"/v{number}/memories/search/", json=asked)
        for number in (2, 3):
            found[f"mem0 list {number}"] = await self.program("POST", f"/v{number}/memories/", json=WITHIN)
        for platform in self.platforms:
            found["platform list"] = await self.ask("GET", PLATFORM, service=platform)
            found["platform words"] = await self.ask("GET", PLATFORM, service=platform, params={"q": "Zanzibar"})
            found["platform one"] = await self.ask("GET", f"{PLATFORM}/{mine}", service=platform)
            found["platform history"] = await self.ask("GET", f"{PLATFORM}/{mine}/history", service=platform)
        return found


@pytest.fixture
async def story(runtime: Service, platforms: list[Service]) -> Story:
    status, told = await runtime.post(APP, uid="ana", json={"memory": WORDS, "metadata": {"place": "Zanzibar"}})
    assert status == 202, told
    await runtime.post(APP, uid="ana", json={"memory": OTHER, "wait": True})
    event: dict[str, Any] = {"status": "PENDING"}
    while event["status"] != "SUCCEEDED":
        _, said = await runtime.get(f"/api/v1/apps/memory-events/{told['event_id']}", uid="ana")
        event = said["event"]
    [result] = event["results"]
    mem0 = await program(runtime)
    asked = {"schema": {"properties": {"facts": {"type": "array"}}}, **WITHIN}
    export = (await mem0.call("POST", "/v1/exports/", json=asked, status=201))["id"]
    await mem0.call("POST", "/v1/feedback/", json={"memory_id": result["id"], "feedback": "POSITIVE"})
    return Story(runtime, platforms, mem0, result["id"], event["id"], export)


async def _one_on_the_platform(story: Story) -> None:
    for platform in story.platforms:
        await story.ask("DELETE", f"{PLATFORM}/{story.id}", service=platform)
    if not story.platforms:
        pytest.skip("a local store has no platform")


async def _all_on_the_platform(story: Story) -> None:
    for platform in story.platforms:
        params = {"agent_id": "app:desk", "count": "2"}
        await story.ask("DELETE", PLATFORM, service=platform, params=params)
    if not story.platforms:
        pytest.skip("a local store has no platform")


Delete = Callable[[Story], Awaitable[object]]
DELETES: dict[str, Delete] = {
    "one": lambda s: s.ask("DELETE", f"{APP}/{s.id}"),
    "all": lambda s: s.ask("DELETE", APP, params={"count": "2"}),
    "gateway one": lambda s: s.ask(
        "POST", f"{GATEWAY}/delete-memory", json={"memory_id": f"mem_{uuid.UUID(s.id).hex}"}
    ),
    "gateway all": lambda s: s.ask("POST", f"{GATEWAY}/delete-all-memories", json={}),
    "mem0 one": lambda s: s.program("DELETE", f"/v1/memories/{s.id}/"),
    "mem0 all": lambda s: s.program("DELETE", "/v1/memories/", params={"user_id": "ana"}),
    "mem0 batch": lambda s: s.program("DELETE", "/v1/batch/", json={"memories": [{"memory_id": s.id}]}),
    "mem0 entity": lambda s: s.program("DELETE", "/v2/entities/app/desk/"),
    "mcp one": lambda s: s.tool("forget_memory", memory_id=s.id),
    "mcp all": lambda s: s.tool("forget_all_memories", count=2),
    "platform one": _one_on_the_platform,
    "platform all": _all_on_the_platform,
    "erase": lambda s: s.ask("DELETE", "/api/memory", service=s.whole),
}


@pytest.mark.field("B58")
@pytest.mark.parametrize("delete", DELETES.values(), ids=DELETES)
async def test_what_any_route_forgot_no_route_reads(story: Story, delete: Delete) -> None:
    before = await story.readings()
    unseen = [name for name, said in before.items() if "Zanzibar" not in said]
    assert unseen == [], "every reading shows it as long as it is there"

    await delete(story)

    after = await story.readings()
    assert [name for name, said in after.items() if "zanzibar" in said.lower()] == []


@pytest.mark.parametrize("delete", [DELETES["one"], DELETES["all"], DELETES["gateway all"], DELETES["mcp one"]])
async def test_a_forgetting_says_how_many_snapshots_still_hold_it(story: Story, delete: Delete) -> None:
    await story.ask("POST", "/api/memory/state", service=story.whole)
    await story.runtime.post(APP, uid="ana", json={"memory": "Plays the cello", "wait": True})

    if delete is DELETES["all"]:
        said = await story.ask("DELETE", APP, params={"count": "3"})
    else:
        said = str(await delete(story))

    assert '"held_by_snapshots": 1' in said
    assert '"held_by_snapshots": 1' in await story.ask("GET", "/api/v1/apps/memory-receipts")
