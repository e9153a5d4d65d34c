"""Clients that leave in the middle, and clients that stay and say nothing."""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from runtime_svc.keys import EMBEDDER
from tests.services import Service, bearer
from tests.waiting import FOR_EVER, until

APP = "/api/v1/apps/memories/desk"
IDLE = 1000


async def leave(service: Service, method: str, path: str, body: object, after: float) -> None:
    """Send a request whole, wait a moment, and drop the connection."""
    _, writer = await asyncio.open_connection("127.0.0.1", service.client.port)
    sent = json.dumps(body).encode()
    head = [
        f"{method} {path} HTTP/1.1",
        "Host: 127.0.0.1",
        "Content-Type: application/json",
        f"Content-Length: {len(sent)}",
        *(f"{name}: {value}" for name, value in bearer("ana").items()),
    ]
    writer.write("\r\n".join([*head, "", ""]).encode() + sent)
    await writer.drain()
    await asyncio.sleep(after)
    writer.transport.abort()


async def kept(service: Service) -> dict[str, str]:
    _, said = await service.get(APP, uid="ana")
    assert said["total"] == len(said["memories"])
    return {one["id"]: one["memory"] for one in said["memories"]}


async def settled(service: Service) -> dict[str, str]:
    """What is kept once nothing that was asked for is under way."""
    before: dict[str, str] | None = None

    async def unchanged() -> bool:
        nonlocal before
        await asyncio.sleep(0.5)  # what nobody waits for any more ends: a write that had begun
        _, events = await service.get("/api/v1/apps/memory-events", uid="ana")
        waiting = any(one["completed_at"] is None for one in events["events"])
        last, before = before, await kept(service)
        return before == last and not waiting

    await until(unchanged)
    assert before is not None
    return before


@pytest.mark.fault("A client disconnects in the middle of a write", "the write is done whole or not at all")
@pytest.mark.field("B70")
async def test_a_client_that_leaves_leaves_no_half_write(either: Service) -> None:
    chance = random.Random(7)
    ids = []
    for n in range(12):
        _, said = await either.post(APP, json={"memory": f"fact {n}", "wait": True}, uid="ana")
        ids.append(said["results"][0]["id"])
    server = either.client.server.runner.server
    taken, connected = server.requests_count, len(server.connections)
    async with asyncio.TaskGroup() as group:
        for n in range(60):
            one, after = chance.choice(ids), chance.random() * 0.03
            what = [
                ("POST", APP, {"memory": f"new {n}", "wait": True}),
                ("PATCH", f"{APP}/{one}", {"memory": f"corrected {n}"}),
                ("DELETE", f"{APP}/{one}", {}),
                ("POST", APP, {"memory": f"queued {n}"}),
            ][n % 4]
            group.create_task(leave(either, *what, after))

    await until(lambda: server.requests_count >= taken + 60)
    await until(lambda: len(server.connections) <= connected)  # all who left are seen to be gone
    found = await settled(either)
    assert found
    for one, words in found.items():
        _, told = await either.get(f"{APP}/{one}/history", uid="ana")
        assert told["history"][-1]["new_memory"] == words
        assert told["history"][0]["event"] == "ADD"
    _, hits = await either.post(f"{APP}/search", json={"query": "fact new corrected queued", "limit": 100}, uid="ana")
    assert {one["id"]: one["memory"] for one in hits["memories"]} == found
    for one in set(ids) - set(found):
        assert (await either.get(f"{APP}/{one}/history", uid="ana"))[0] == 404
    _, receipts = await either.get("/api/v1/apps/memory-receipts", uid="ana")
    assert sum(one["forgotten"] for one in receipts["receipts"]) == len(set(ids) - set(found))


@pytest.mark.fault("A thousand connections that say nothing", "everybody else is served as before")
async def test_idle_connections_disturb_nobody(either: Service) -> None:
    idle = [await asyncio.open_connection("127.0.0.1", either.client.port) for _ in range(IDLE)]
    try:
        for _ in range(20):
            assert (await either.get(APP, uid="ana"))[0] == 200
    finally:
        for _, writer in idle:
            writer.transport.abort()


@pytest.mark.fault("Many texts are embedded at once", "the event loop is not blocked: health answers meanwhile")
@pytest.mark.field("B73")
async def test_health_answers_while_texts_are_embedded(either: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    model = either.client.server.app[EMBEDDER]._model
    computing, answered, compute = threading.Event(), threading.Event(), model.embed

    def embed(texts: Sequence[str]) -> Any:
        """The model's own work, which goes on when health has answered: on the event loop it never would."""
        computing.set()
        assert answered.wait(FOR_EVER)
        return compute(texts)

    monkeypatch.setattr(model, "embed", embed)
    messages = [{"role": "user", "content": f"On day {n} she said that " + "the report was late and " * 40} for n in range(16)]  # fmt: skip
    learning = asyncio.create_task(either.post(APP, json={"messages": messages, "wait": True}, uid="ana"))
    await until(computing.is_set)
    for _ in range(20):
        assert (await either.get("/healthz", uid=None))[0] == 200
    assert not learning.done()
    answered.set()

    assert (await learning)[0] == 200
