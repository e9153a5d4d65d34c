"""Runs an application until it is told to stop; then lets what runs finish."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import structlog
import uvloop
from aiohttp import web

from shared.errors import CannotStartError
from shared.http.health import DRAINING
from shared.http.unreadable import Runner

log = structlog.get_logger()

Factory = Callable[[AsyncExitStack], Awaitable[web.Application]]

_FINISH_WITHIN = 30.0
_SEEN_WITHIN = 0.5
"""Seconds for a load balancer to see `/readyz` fail before connections are refused."""


def run(make: Factory, *, host: str, port: int) -> None:
    """Serve until SIGTERM or SIGINT. Ends the process with 2 and a sentence when it cannot start."""
    try:
        uvloop.run(_serve(make, host, port))
    except CannotStartError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(2) from None


async def _serve(make: Factory, host: str, port: int) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    async with AsyncExitStack() as held:
        app = await make(held)
        runner = Runner(app, access_log=None, shutdown_timeout=_FINISH_WITHIN)
        await runner.setup()
        try:
            # What was made by now stays for the life of the process: no collection need go through it again. Before
            # anybody is served, for it takes the loop.
            gc.collect()
            gc.freeze()
            await _listen(runner, host, port)
            log.info("service.started", host=host, port=port)
            await stop.wait()
            app[DRAINING].append(True)
            await asyncio.sleep(_SEEN_WITHIN)
        finally:
            await runner.cleanup()
        log.info("service.stopped")


async def _listen(runner: web.AppRunner, host: str, port: int) -> None:
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        raise CannotStartError(f"The address {host}:{port} cannot be listened on.") from error


async def hold_embedded(held: AsyncExitStack, directory: Path) -> str:
    """Have the embedded PostgreSQL of a directory for the life of the process; where to connect."""
    # Imported here: a deployment with a server of its own installs without it.
    from shared.db.embedded import embedded  # noqa: PLC0415

    server = await held.enter_async_context(embedded(directory))
    return server.dsn
