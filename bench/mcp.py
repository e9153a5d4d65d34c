"""`python -m bench.mcp`: processor time of a call through MCP against the same work through the native routes."""

from __future__ import annotations

import asyncio
import statistics
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp

from bench.runtime import Runtime, headers, running

CALLS = 1500
ROUNDS = 3
_MODERN = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_ACCEPT = {"Accept": "application/json, text/event-stream"}

Call = Callable[[], Awaitable[None]]


def calls(session: aiohttp.ClientSession, url: str) -> dict[str, Call]:
    """One call by each door: a plain answer, and a list of ten memories."""

    async def get(path: str, **query: str) -> None:
        async with session.get(f"{url}{path}", params=query) as response:
            assert response.status == 200, await response.text()
            await response.read()

    async def mcp(version: str, method: str, **params: Any) -> None:
        modern = version == _MODERN
        sent = {**_ACCEPT, "MCP-Protocol-Version": version}
        if modern:
            sent |= {"Mcp-Method": method, **({"Mcp-Name": params["name"]} if "name" in params else {})}
            params = {**params, "_meta": _META}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        async with session.post(f"{url}/mcp/app-1", json=body, headers=sent) as response:
            said = await response.json()
            assert response.status == 200, said
            assert not said["result"].get("isError"), said

    listing = {"name": "list_memories", "arguments": {"limit": 10}}
    return {
        "GET /healthz": lambda: get("/healthz"),
        "GET memories, 10": lambda: get("/api/v1/apps/memories/app-1", limit="10"),
        "MCP 2026-07-28 list_memories, 10": lambda: mcp(_MODERN, "tools/call", **listing),
        "MCP 2025-11-25 list_memories, 10": lambda: mcp("2025-11-25", "tools/call", **listing),
        "MCP 2025-11-25 tools/list": lambda: mcp("2025-11-25", "tools/list"),
    }


async def spent(runtime: Runtime, call: Call, count: int) -> float:
    """Microseconds of the service's processor time that one call takes."""
    before = runtime.cpu()
    for _ in range(count):
        await call()
    return (runtime.cpu() - before) / count * 1e6


async def main(count: int) -> None:
    async with running() as runtime, aiohttp.ClientSession(headers=headers()) as session:
        for number in range(10):
            fact = {"memory": f"Fact number {number} about the cello", "wait": True}
            async with session.post(f"{runtime.url}/api/v1/apps/memories/app-1", json=fact) as response:
                assert response.status in (200, 202), await response.text()
        table = calls(session, runtime.url)
        for call in table.values():
            await spent(runtime, call, 50)
        rounds = [{name: await spent(runtime, call, count) for name, call in table.items()} for _ in range(ROUNDS)]
    medians = {name: statistics.median(one[name] for one in rounds) for name in table}
    plain = medians["GET memories, 10"]
    print(f"{'call':36} {'CPU µs':>8} {'x native':>9}   (median of {ROUNDS} rounds of {count})")
    for name, median in medians.items():
        print(f"{name:36} {median:8.0f} {median / plain:9.1f}")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else CALLS))
