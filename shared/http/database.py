"""The database as a resource of an application: opened at start, prepared as soon as it answers, closed at the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import structlog
from aiohttp import web

from shared.db.pool import Database
from shared.db.preparing import prepare
from shared.errors import Unavailable
from shared.http.health import READY
from shared.http.metrics import METRICS
from shared.settings import Settings

log = structlog.get_logger()

_AGAIN = 1.0
"""Seconds between tries while the database is away at the start."""


def database_resource(
    settings: Settings, database: Database, dsn: str
) -> Callable[[web.Application], AsyncIterator[None]]:
    """A cleanup context. A database that is away delays readiness, not the start; one that refuses ends the start."""

    async def resource(app: web.Application) -> AsyncIterator[None]:
        prepared = asyncio.Event()

        async def once() -> bool:
            try:
                await prepare(
                    dsn,
                    settings.collection,
                    settings.dimensions,
                    with_ddl=settings.migrate,
                    row_security=settings.row_security,
                )
            except Unavailable:
                return False
            await database.open()
            prepared.set()
            return True

        async def until_done() -> None:
            while not await once():  # noqa: ASYNC110 (it asks a database)
                await asyncio.sleep(_AGAIN)
            log.info("database.ready")

        waiting = None
        if not await once():
            log.warning("database.away")
            waiting = asyncio.create_task(until_done())

        async def ready() -> bool:
            return prepared.is_set() and await database.answers()

        async def in_use() -> float:
            return database.in_use

        app[READY]["database"] = ready
        app[METRICS].watch("pool_connections_in_use", "Connections to PostgreSQL that are lent.", in_use)
        yield
        if waiting is not None:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        await database.close()

    return resource
