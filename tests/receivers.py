"""What a person's program receives from webhooks, on loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.acceptance.mem0_key import Program, program
from tests.services import Service


class Receiver:
    """Takes messages at `/hook`, failing as often as it is told to; at `/hang` it says nothing until it is let go."""

    def __init__(self) -> None:
        self.url = ""
        self.seen: list[tuple[dict[str, str], bytes]] = []
        self.failures = 0
        self.failed: list[dict[str, str]] = []
        self.hanging: list[dict[str, str]] = []
        self.let_go = asyncio.Event()
        self.news = asyncio.Condition()

    async def take(self, request: web.Request) -> web.Response:
        async with self.news:
            self.news.notify_all()
            if self.failures:
                self.failures -= 1
                self.failed.append(dict(request.headers))
                return web.Response(status=500)
            self.seen.append((dict(request.headers), await request.read()))
            return web.Response(text="ok", headers={"Set-Cookie": "who=ana; Path=/"})

    async def hang(self, request: web.Request) -> web.Response:
        if self.let_go.is_set():
            return await self.take(request)
        async with self.news:
            self.hanging.append(dict(request.headers))
            self.news.notify_all()
        await self.let_go.wait()
        return web.Response(status=503)

    async def told(self, count: int) -> list[Any]:
        """What it was told, once it was told so much."""
        async with asyncio.timeout(60), self.news:
            await self.news.wait_for(lambda: len(self.seen) >= count)
        return [json.loads(raw)["event_details"] for _, raw in self.seen]

    async def until(self, some: list[dict[str, str]], count: int = 1) -> None:
        """Wait for so many that failed, or hang."""
        async with asyncio.timeout(60), self.news:
            await self.news.wait_for(lambda: len(some) >= count)


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    """One that listens."""
    found, app = Receiver(), web.Application()
    app.router.add_post("/hook", found.take)
    app.router.add_post("/hang", found.hang)
    async with TestServer(app) as server:
        found.url = str(server.make_url("/hook"))
        yield found
        found.let_go.set()


async def hooked(service: Service, url: str, *events: str, uid: str = "ana", **said: Any) -> tuple[Program, Any]:
    """A person's program with a webhook."""
    one = await program(service, uid, **said)
    return one, await hook(one, url, *events)


async def hook(one: Program, url: str, *events: str) -> Any:
    """A webhook of a program."""
    project = (await one.call("GET", "/v1/ping/"))["project_id"]
    path = f"/api/v1/webhooks/projects/{project}/"
    return await one.call("POST", path, json={"url": url, "name": "hook", "event_types": list(events)}, status=201)
