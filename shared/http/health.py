"""Liveness and readiness: `/healthz` says that the process answers, `/readyz` that it can do its work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web

from shared.http.answers import answer
from shared.http.errors import shape

Check = Callable[[], Awaitable[bool]]

READY = web.AppKey("ready", dict[str, Check])
"""What must answer before this process takes work, by name."""

DRAINING = web.AppKey("draining", list[bool])
"""Holds one True from SIGTERM on: no new work is sent here, what runs is finished."""


async def healthz(_: web.Request) -> web.Response:
    """The process answers."""
    return answer({"status": "ok"})


async def readyz(request: web.Request) -> web.Response:
    """200 when everything that is needed answers, else 503 with what does not."""
    if request.app[DRAINING]:
        return answer(shape("This service is shutting down.", "draining"), status=503)
    for name, check in request.app[READY].items():
        if not await check():
            return answer(shape(f"The {name} does not answer.", "not_ready"), status=503)
    return answer({"status": "ready"})
