"""What a webhook is to be told outlives the process that made the change, on both stores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import pytest

from tests.faults.alone import keeping, runtime
from tests.receivers import receiving
from tests.services import bearer

HOOKS = "/api/v1/webhooks/projects/default/"
APP = "/api/v1/apps/memories/desk"


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
    settings = {**keeping(dsn, tmp_path / "kept"), "RUNTIME_WEBHOOKS_PRIVATE": "1"}
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
