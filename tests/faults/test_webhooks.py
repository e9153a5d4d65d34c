"""What a webhook is to be told outlives the process that made the change, on both stores."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import pytest

from tests.faults.fleet import OURS, READY_WITHIN, free_port
from tests.receivers import receiving
from tests.services import bearer, environment

HOOKS = "/api/v1/webhooks/projects/default/"
APP = "/api/v1/apps/memories/desk"


@asynccontextmanager
async def runtime(settings: dict[str, str], log: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """A runtime in a process of its own, and its address."""
    port = free_port()
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(OURS)}
    said = environment(RUNTIME_SHARES="off", RUNTIME_WEBHOOKS_PRIVATE="1", **settings)
    with log.open("ab") as file:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "runtime_svc", "--port", str(port)),
            env={**inherited, **said},
            stdout=file,
            stderr=file,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        async with asyncio.timeout(READY_WITHIN), aiohttp.ClientSession() as session:
            while not await _ready(session, address):
                assert process.returncode is None, log.read_text()
                await asyncio.sleep(0.1)
        yield process, address
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _ready(session: aiohttp.ClientSession, address: str) -> bool:
    try:
        async with session.get(f"{address}/readyz") as response:
            return response.status == 200
    except aiohttp.ClientError:
        return False


async def ask(address: str, path: str, said: dict[str, Any]) -> Any:
    async with (
        aiohttp.ClientSession() as session,
        session.post(address + path, json=said, headers=bearer("ana")) as response,
    ):
        assert response.status in {200, 201}, await response.text()
        return await response.json()


async def lease_ends(dsn: str) -> None:
    """As it does by itself, some time after its runtime is gone."""
    connection = await asyncpg.connect(dsn)
    await connection.execute("UPDATE runtime_memory.deliveries SET lease_until = now() - interval '1 second'")
    await connection.close()


@pytest.mark.fault("kill -9 of a runtime while webhooks are told", "another, or the next one, tells them all, by the same ids")  # fmt: skip
@pytest.mark.timeout(180)
async def test_a_kill_loses_nothing_that_webhooks_are_to_be_told(dsn: str | None, tmp_path: Path) -> None:
    settings = {"DATALAYER_POSTGRESQL_AGENT_MEMORIES_URI": dsn} if dsn else {"AGENT_RUNTIMES_MEM0_BACKEND": "faiss"}
    settings["AGENT_RUNTIMES_MEM0_DIR"] = str(tmp_path / "kept")
    async with receiving() as receiver:
        async with runtime(settings, tmp_path / "log") as (process, address):
            url = receiver.url.replace("/hook", "/hang")
            await ask(address, HOOKS, {"url": url, "event_types": ["memory_add"]})
            for words in ("one", "two", "three"):
                await ask(address, APP, {"memory": words, "wait": True})
            await receiver.until(receiver.hanging)
            process.kill()
            await process.wait()
        receiver.let_go.set()
        if dsn is not None:
            await lease_ends(dsn)
        async with runtime(settings, tmp_path / "log"):
            told = await receiver.told(3)

    ids = [json.loads(raw)["delivery_id"] for _, raw in receiver.seen]
    assert [one["data"]["memory"] for one in told] == ["one", "two", "three"]
    assert len(set(ids)) == 3
    assert ids[0] == receiver.hanging[0]["X-Webhook-Delivery"], "begun before the kill"
