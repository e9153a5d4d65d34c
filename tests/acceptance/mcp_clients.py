"""The MCP clients that the tests speak with: the official ones for Python and for JavaScript, unmodified."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.fetched import FETCHED, NPM_INSTALL
from tests.services import Service, bearer

PACKAGES = ("@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0")

FACTS = ("Plays the cello in a quartet", "Is vegetarian and avoids gluten", "Parks on level 2 of the garage")
TOOLS = {
    "search_memory",
    "remember",
    "remember_data",
    "list_memories",
    "correct_memory",
    "forget_memory",
    "forget_all_memories",
    "memory_history",
}
MODES = ("auto", "legacy")

_CACHE = FETCHED / "mcp-clients"
_DRIVER = Path(__file__).with_name("mcp_clients.mjs")


def address(runtime: Service, app: str = "app-1") -> str:
    return str(runtime.client.make_url(f"/mcp/{app}"))


@contextlib.asynccontextmanager
async def python_client(
    runtime: Service, *, uid: str | None = "owner-1", app: str = "app-1", mode: str = "auto", **headers: str
) -> AsyncIterator[Client]:
    """The Python SDK's client, as a person, or as nobody when `uid` is None."""
    sent = {**(bearer(uid) if uid is not None else {}), **headers}
    async with httpx2.AsyncClient(headers=sent, timeout=60) as http:
        transport = streamable_http_client(address(runtime, app), http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


def javascript_packages() -> Path:
    """Where both packages for JavaScript are; skips where they cannot be."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node or npm is not installed: the MCP clients for JavaScript are not driven.")
    marker = _CACHE / "complete"
    if not marker.exists() or marker.read_text("utf-8") != " ".join(PACKAGES):
        _CACHE.mkdir(parents=True, exist_ok=True)
        command = [*NPM_INSTALL, str(_CACHE), *PACKAGES]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=600)
        except (OSError, subprocess.SubprocessError) as error:
            pytest.skip(f"npm could not fetch the MCP clients: {type(error).__name__}.")
        marker.write_text(" ".join(PACKAGES), "utf-8")
    shutil.copy(_DRIVER, _CACHE / _DRIVER.name)
    return _CACHE


async def javascript(client: str, url: str, headers: dict[str, str], *calls: list[Any]) -> list[Any]:
    """What a client for JavaScript gets for calls of its methods, in order; `client` is `sdk`, `client` or `auto`."""
    cache = await asyncio.to_thread(javascript_packages)
    process = await asyncio.create_subprocess_exec(
        "node",
        str(cache / _DRIVER.name),
        client,
        url,
        json.dumps(headers),
        json.dumps(calls),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, errors.decode()
    return json.loads(output)


async def say(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool answers, for programs; it must not have failed."""
    answered = await client.call_tool(tool, arguments)
    assert not answered.is_error, answered.content
    return answered.structured_content


async def text(client: Client, tool: str, **arguments: Any) -> str:
    [content] = (await client.call_tool(tool, arguments)).content
    return content.text


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """The sentence of a tool that must fail."""
    answered = await client.call_tool(tool, arguments)
    assert answered.is_error, answered.structured_content
    assert answered.structured_content["error"] == answered.content[0].text
    return answered.content[0].text


async def remember_all(client: Client) -> list[str]:
    return [(await say(client, "remember", content=fact))["id"] for fact in FACTS]
