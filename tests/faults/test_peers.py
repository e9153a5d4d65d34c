"""The platform slow, away or talking nonsense, an LLM that never answers, a clock that goes back."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from shared import times
from tests.services import Service, start_runtime
from tests.waiting import Gate, until

APP = "/api/v1/apps/memories/desk"
NONSENSE = [
    b"",
    b"<html>",
    b"null",
    b"[]",
    b'{"shares": null}',
    b'{"shares": [1]}',
    b'{"shares": [{"reader": "app:desk", "source": "*"}]}',
    b'{"shares": [{"reader": "app:desk", "source": 7}]}',
    b"\xff\xfe",
    b'{"shares": [' + b"[" * 100_000,
    b" " * 1_100_000,
]


class Peer:
    """A platform that says what it is told to."""

    def __init__(self) -> None:
        self.status, self.body, self.gate = 200, b'{"shares": []}', Gate()

    async def shares(self, _: web.Request) -> web.Response:
        await self.gate.passed()
        return web.Response(status=self.status, body=self.body, headers={"Content-Type": "application/json"})


@pytest.fixture
async def peer(
    settings_environment: pytest.MonkeyPatch, database: str
) -> AsyncIterator[tuple[Peer, Service, TestServer]]:
    peer, app = Peer(), web.Application()
    app.router.add_get("/api/runtimes/v1/memory-shares", peer.shares)
    server = TestServer(app)
    await server.start_server()
    settings_environment.delenv("RUNTIME_SHARES")
    settings_environment.setenv("DATALAYER_RUNTIMES_URL", str(server.make_url("/")))
    runtime = await start_runtime(database)
    await runtime.post(APP, json={"memory": "Reports are read on Mondays", "wait": True}, uid="ana")
    yield peer, runtime, server
    await runtime.client.close()
    await server.close()


async def searched(runtime: Service) -> Any:
    status, said = await runtime.post(f"{APP}/search", json={"query": "reports"}, uid="ana")
    assert status == 200
    return said


@pytest.mark.fault("The platform answers nonsense, or refuses", "the turn reads nothing, and says why; listing and learning go on")  # fmt: skip
async def test_nonsense_of_the_platform_is_never_guessed_from(peer: tuple[Peer, Service, TestServer]) -> None:
    platform, runtime, _ = peer
    answers = [*((200, body) for body in NONSENSE), (500, b"{}"), (302, b""), (401, b"{}"), (204, b"")]
    for platform.status, platform.body in answers:
        said = await searched(runtime)
        assert (said["memories"], bool(said["unread"])) == ([], True), (platform.status, platform.body[:40])
        assert (await runtime.get(APP, uid="ana"))[1]["total"] == 1

    platform.status, platform.body = 200, b'{"shares": []}'
    assert len((await searched(runtime))["memories"]) == 1


@pytest.mark.fault("The platform is away", "a turn that recalls reads nothing, and says why; learning goes on")
async def test_a_platform_that_is_away_is_said(peer: tuple[Peer, Service, TestServer]) -> None:
    _, runtime, server = peer
    await server.close()

    said = await searched(runtime)
    assert (said["memories"], "was not reached" in said["unread"]) == ([], True)
    assert (await runtime.post(APP, json={"memory": "x", "wait": True}, uid="ana"))[0] == 200


@pytest.mark.fault("The platform is slow", "a turn waits for it, up to ten seconds; nobody else does")
async def test_a_slow_platform_keeps_only_its_own_turn_waiting(peer: tuple[Peer, Service, TestServer]) -> None:
    platform, runtime, _ = peer
    platform.gate.hold()
    slow = [asyncio.create_task(searched(runtime)) for _ in range(20)]
    await platform.gate.reached(20)

    assert (await runtime.get(APP, uid="ana"))[1]["total"] == 1
    assert not any(turn.done() for turn in slow)
    platform.gate.let_go()
    assert [len(said["memories"]) for said in await asyncio.gather(*slow)] == [1] * 20


class Clock:
    """The services' clock, to be set back."""

    def __init__(self) -> None:
        self.back = timedelta()

    def now(self) -> datetime:
        return REAL() - self.back


REAL = times.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """In every module that reads the time."""
    one = Clock()
    for module in list(sys.modules.values()):
        if getattr(module, "now", None) is REAL:
            monkeypatch.setattr(module, "now", one.now)
    return one


@pytest.mark.fault("The clock goes back", "all is learned, corrected, listed and forgotten, once")  # fmt: skip
async def test_a_clock_that_goes_back_loses_and_repeats_nothing(either: Service, clock: Clock) -> None:
    ids = []
    for n in range(6):
        clock.back = timedelta(hours=n)
        _, said = await either.post(APP, json={"memory": f"fact {n}", "wait": True}, uid="ana")
        ids.append(said["results"][0]["id"])
    status, said = await either.patch(f"{APP}/{ids[0]}", json={"memory": "corrected"}, uid="ana")
    assert (status, said["memory"]["memory"]) == (200, "corrected")
    _, accepted = await either.post(APP, json={"memory": "queued"}, uid="ana")

    async def learned() -> bool:
        _, told = await either.get(f"/api/v1/apps/memory-events/{accepted['event_id']}", uid="ana")
        return told["event"]["status"] == "SUCCEEDED"

    await until(learned)
    walked: list[str] = []
    cursor = ""
    while cursor is not None:
        _, page = await either.get(APP, params={"limit": 2, "cursor": cursor}, uid="ana")
        walked += [one["id"] for one in page["memories"]]
        cursor = page["next"]
    assert len(walked) == len(set(walked)) == 7
    assert set(ids) < set(walked)
    _, told = await either.get(f"{APP}/{ids[0]}/history", uid="ana")
    assert [one["event"] for one in told["history"]] == ["ADD", "UPDATE"]
    assert (await either.delete(APP, params={"count": 7}, uid="ana")) == (200, {"forgotten": 7})
