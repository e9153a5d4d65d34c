"""`runtime-memory mcp`: a desktop client's pipes to a running service, driven by the official Python client."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from runtime_svc.tools import NOT_SIGNED_IN
from tests.services import Service, token

ROOT = Path(__file__).parents[2]


def command(url: str, app: str = "app-1") -> list[str]:
    return ["-c", "from shared.cli import main; main()", "mcp", "--app", app, "--url", url]


def environment(**more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], **more}


@asynccontextmanager
async def desktop(url: str, *, mode: str = "auto", **more: str) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(
        command=sys.executable, args=command(url), env=environment(**more), cwd=str(ROOT)
    )
    async with Client(parameters, mode=mode) as client:
        yield client


def at(runtime: Service) -> str:
    return str(runtime.client.make_url("/"))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_desktop_client_uses_the_memory_of_its_person(runtime: Service, mode: str) -> None:
    async with desktop(at(runtime), mode=mode, RUNTIME_MEMORY_TOKEN=token("ana")) as client:
        assert len((await client.list_tools()).tools) == 8
        kept = await client.call_tool("remember", {"content": "Plays the cello 🎻"})
        found = await client.call_tool("search_memory", {"query": "music"})
        [recent] = (await client.read_resource("memory://app-1/recent")).contents

    assert kept.structured_content["stored"]
    assert found.structured_content["memories"][0]["memory"] == "Plays the cello 🎻"
    assert "Plays the cello 🎻" in recent.text
    assert (await runtime.get("/api/v1/apps/memories/app-1", uid="ana"))[1]["total"] == 1
    assert (await runtime.get("/api/v1/apps/memories/app-1", uid="bob"))[1]["total"] == 0


async def test_without_a_credential_it_is_nobodys(runtime: Service) -> None:
    async with desktop(at(runtime)) as client:
        answered = await client.call_tool("search_memory", {"query": "music"})

    assert answered.content[0].text == NOT_SIGNED_IN


async def speak(url: str, *lines: bytes, **more: str) -> tuple[int, list[Any], str]:
    """What the command writes for lines, its exit code and its complaints."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *command(url),
        cwd=ROOT,
        env=environment(**more),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await asyncio.wait_for(process.communicate(b"".join(lines)), 60)
    return process.returncode or 0, [json.loads(line) for line in output.splitlines()], errors.decode()


def request(number: int, method: str = "tools/list", **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


async def test_every_request_is_answered_before_it_ends_and_bad_lines_do_not_stop_it(runtime: Service) -> None:
    lines = [request(n) for n in range(40)]
    bad = [b"\n", b"nonsense\n", b"[]\n", b"\xff\n", b'{"jsonrpc": "2.0", "id": 1, "m": "' + b"x" * 1_100_000 + b'"}\n']
    notified = b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}\n'

    code, said, errors = await speak(at(runtime), *bad, notified, *lines, RUNTIME_MEMORY_TOKEN=token("ana"))

    assert (code, errors) == (0, "")
    assert sorted(one["id"] for one in said if one["id"] is not None) == list(range(40))
    assert [one["error"]["code"] for one in said if one["id"] is None] == [-32700] * 4


async def test_what_goes_wrong_is_an_answer_with_the_requests_id(runtime: Service) -> None:
    for url, more, sentence in (
        (at(runtime), {"RUNTIME_MEMORY_TOKEN": "nonsense"}, "This credential is not valid."),
        ("http://127.0.0.1:9", {}, "The memory service is not reached: is it running at this address?"),
    ):
        code, [said], errors = await speak(url, request(7), **more)

        assert (code, errors, said["id"], said["error"]["message"]) == (0, "", 7, sentence)


async def test_what_it_is_started_with_is_checked(runtime: Service) -> None:
    both = {"RUNTIME_MEMORY_TOKEN": "a", "RUNTIME_MEMORY_KEY": "b"}

    for url, more, sentence in (
        ("ftp://x", {}, "starts with http"),
        (at(runtime), both, "set one"),
    ):
        code, said, errors = await speak(url, request(7), **more)

        assert (code, said) == (1, [])
        assert sentence in errors
