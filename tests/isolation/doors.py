"""Each act through each dialect that has it, in one form: what was asked, and what was answered."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from tests.isolation.world import Caller, World, quoted

Answer = tuple[int, dict[str, str] | None, int | None]
"""The status, memories by id, and the number that the answer claims there are; None where a dialect does not say."""

_GATEWAY = "/api/v1/llm/gateway"
_PLATFORM = "/api/runtimes/v1/memories"
_ACCEPT = {"Accept": "application/json, text/event-stream"}


def native(app: str) -> str:
    return f"/api/v1/apps/memories/{quoted(app)}"


def url(path: str) -> Any:
    from yarl import URL

    return URL(path, encoded=True)


async def tool(
    world: World, caller: Caller, app: str, name: str, *, sharing: bool = False, **said: Any
) -> tuple[int, Any]:
    """An MCP tool: its data, with 404 for a refusal."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": said}}
    status, answer = await world.ask(
        caller, "POST", url(f"/mcp/{quoted(app)}"), app=app, sharing=sharing, headers=_ACCEPT, json=message
    )
    if status != 200:
        return status, answer
    result = answer["result"]
    return (404 if result.get("isError") else 200), result["structuredContent"]


def by_id(memories: list[dict[str, Any]]) -> dict[str, str]:
    return {one["id"].removeprefix("mem_"): one["memory"] for one in memories}


def dashed(found: dict[str, str]) -> dict[str, str]:
    """The gateway's ids in our form."""
    return {str(uuid.UUID(one)): words for one, words in found.items()}


# --- learn: the id of what was learned ---------------------------------------------------------------------------
async def learn_native(world: World, caller: Caller, app: str, words: str) -> tuple[int, str | None]:
    status, said = await world.ask(caller, "POST", url(native(app)), app=app, json={"memory": words, "wait": True})
    return status, said["results"][0]["id"] if status == 200 else None


async def learn_mem0(world: World, caller: Caller, app: str, words: str) -> tuple[int, str | None]:
    body = {"messages": [{"role": "user", "content": words}], "app_id": app, "infer": False, "output_format": "v1.1"}
    status, said = await world.ask(caller, "POST", "/v1/memories/", app=app, json=body)
    return status, said["results"][0]["id"] if status == 200 else None


async def learn_mcp(world: World, caller: Caller, app: str, words: str) -> tuple[int, str | None]:
    status, said = await tool(world, caller, app, "remember", content=words)
    return status, said["id"] if status == 200 else None


LEARN = {"native": learn_native, "mem0": learn_mem0, "mcp": learn_mcp}


# --- list ----------------------------------------------------------------------------------------------------------
async def list_native(world: World, caller: Caller, app: str) -> Answer:
    status, said = await world.ask(caller, "GET", url(native(app)), app=app)
    return (status, by_id(said["memories"]), said["total"]) if status == 200 else (status, None, None)


async def list_platform(world: World, caller: Caller, app: str) -> Answer:
    if world.platform is None:
        return await list_native(world, caller, app)
    status, said = await world.ask(
        caller, "GET", _PLATFORM, platform=True, app=app, params={"agent_id": f"app:{app}", "limit": 1000}
    )
    return (status, by_id(said["memories"]), said["total"]) if status == 200 else (status, None, None)


async def list_gateway(world: World, caller: Caller, app: str) -> Answer:
    body = {"app_id": app, "page_size": 100}
    status, said = await world.ask(caller, "POST", f"{_GATEWAY}/list-memories", app=app, json=body)
    return (status, dashed(by_id(said["memories"])), said["total"]) if status == 200 else (status, None, None)


async def list_mem0(world: World, caller: Caller, app: str) -> Answer:
    body = {"filters": {"AND": [{"app_id": app}]}, "page": 1, "page_size": 100}
    status, said = await world.ask(caller, "POST", "/v3/memories/", json=body, app=app)
    return (status, by_id(said["results"]), said["count"]) if status == 200 else (status, None, None)


async def list_mem0_v1(world: World, caller: Caller, app: str) -> Answer:
    status, said = await world.ask(caller, "GET", "/v1/memories/", params={"app_id": app}, app=app)
    return (status, by_id(said), None) if status == 200 else (status, None, None)


async def list_mcp(world: World, caller: Caller, app: str) -> Answer:
    status, said = await tool(world, caller, app, "list_memories", limit=100)
    return (status, by_id(said["memories"]), said["total"]) if status == 200 else (status, None, None)


LIST: dict[str, Callable[[World, Caller, str], Awaitable[Answer]]] = {
    "native": list_native,
    "platform": list_platform,
    "gateway": list_gateway,
    "mem0 v1": list_mem0_v1,
    "mem0 v3": list_mem0,
    "mcp": list_mcp,
}


# --- find: whose answers the world checks for foreign markers; also the application's own sentence for an agent -------
async def find(world: World, caller: Caller, app: str, door: str, query: str) -> tuple[int, Any]:
    body = {"query": query, "limit": 50}
    match door:
        case "search" | "recall":
            return await world.ask(caller, "POST", url(f"{native(app)}/{door}"), app=app, sharing=True, json=body)
        case "gateway":
            body["app_id"] = app
            return await world.ask(caller, "POST", f"{_GATEWAY}/search-memories", app=app, sharing=True, json=body)
        case "mem0":
            said = {"query": query, "top_k": 50, "filters": {"app_id": app}}
            return await world.ask(caller, "POST", "/v2/memories/search/", app=app, json=said)
        case "chat":
            chat = {"model": "m", "messages": [{"role": "user", "content": query}], "app_id": app, "learn": "off"}
            return await world.ask(caller, "POST", f"{_GATEWAY}/chat/completions", app=app, sharing=True, json=chat)
        case "mcp":
            return await tool(world, caller, app, "search_memory", sharing=True, query=query, limit=50)
    path = url(f"/api/v1/apps/tools/{quoted(app)}/search_memory")
    return await world.ask(caller, "POST", path, app=app, sharing=True, json={"query": query})


FIND = ("search", "recall", "gateway", "mem0", "mcp", "chat", "tools")


# --- one memory by id: the status ---------------------------------------------------------------------------------
async def one(world: World, caller: Caller, app: str, door: str, act: str, memory_id: str, words: str) -> int:
    """`get`, `history`, `correct` or `forget` of a memory, whoever's it is, as one of an application's."""
    method = {"get": "GET", "history": "GET", "correct": "PATCH", "forget": "DELETE"}[act]
    body: dict[str, Any] = {"json": {"memory": words, "text": words}} if act == "correct" else {}
    tail = "/history" if act == "history" else ""
    if door == "native":
        path = url(f"{native(app)}/{memory_id}{tail}")
        return (await world.ask(caller, method, path, app=app, **body))[0]
    if door == "platform":
        more = {"platform": True, "params": {"agent_id": f"app:{app}"}, **body}
        return (await world.ask(caller, method, f"{_PLATFORM}/{memory_id}{tail}", app=app, **more))[0]
    if door == "mem0":
        method = "PUT" if act == "correct" else method
        return (await world.ask(caller, method, f"/v1/memories/{memory_id}{tail}/", **body))[0]
    if door == "gateway":
        name = {"get": "get-memory", "history": "get-memory", "correct": "update-memory", "forget": "delete-memory"}[
            act
        ]
        said = {"memory_id": f"mem_{memory_id.replace('-', '')}", "app_id": app, "memory": words}
        return (await world.ask(caller, "POST", f"{_GATEWAY}/{name}", app=app, json=said))[0]
    name = {
        "get": "memory_history",
        "history": "memory_history",
        "correct": "correct_memory",
        "forget": "forget_memory",
    }
    more = {"memory": words} if act == "correct" else {}
    return (await tool(world, caller, app, name[act], memory_id=memory_id, **more))[0]


ONE = ("native", "platform", "mem0", "gateway", "mcp")


# --- forget all of an application: the status and how many ------------------------------------------------------------
async def forget_all(world: World, caller: Caller, app: str, door: str, count: int) -> tuple[int, int | None]:
    match door:
        case "native":
            status, said = await world.ask(caller, "DELETE", url(f"{native(app)}?count={count}"), app=app)
        case "platform":
            params = {"agent_id": f"app:{app}", "count": count}
            status, said = await world.ask(caller, "DELETE", _PLATFORM, platform=True, params=params, app=app)
        case "mem0":
            status, said = await world.ask(caller, "DELETE", "/v1/memories/", params={"app_id": app}, app=app)
        case "gateway":
            body = {"app_id": app}
            status, said = await world.ask(caller, "POST", f"{_GATEWAY}/delete-all-memories", json=body, app=app)
        case _:
            status, said = await tool(world, caller, app, "forget_all_memories", count=count)
    return status, said.get("forgotten", said.get("deleted"))


FORGET_ALL = ("native", "platform", "mem0", "gateway", "mcp")
