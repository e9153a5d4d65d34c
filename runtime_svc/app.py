"""Puts the runtime service together: chooses the adapters, opens and closes them, adds the routes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from aiohttp import web

from runtime_svc.appspecs import Appspecs, read_directory
from runtime_svc.engine.embedder import MiniLM
from runtime_svc.keys import ALLOWANCES, APPSPECS, EMBEDDER, STORE
from runtime_svc.routes import ROUTES
from runtime_svc.settings import RuntimeSettings
from runtime_svc.shares import PlatformShares
from runtime_svc.turns import NoPlatform
from shared.db.pool import Database
from shared.http.application import new_application, protect, token_verifier
from shared.http.auth import Authenticator
from shared.http.database import database_resource
from shared.http.routing import add_routes
from shared.settings import BadSettingError
from shared.stores.pg.store import PostgresStore


def create_app(settings: RuntimeSettings, *, dsn: str | None = None) -> web.Application:
    """The application; it connects to nothing until it starts. `dsn` is where an embedded server is.

    Raises BadSettingError.
    """
    app = new_application()
    protect(app, _authenticator(app, settings))
    where = dsn or settings.dsn()
    if where is None:
        raise BadSettingError("DATALAYER_POSTGRESQL_AGENT_MEMORIES_URI (or _HOST) is missing: where is PostgreSQL?")
    database = Database(where, settings.limits)
    app[STORE] = PostgresStore(database, settings.collection)
    app.cleanup_ctx.append(database_resource(settings, database, where))
    app.cleanup_ctx.append(_embedder)
    app.cleanup_ctx.append(_allowances(settings))
    app.cleanup_ctx.append(_appspecs(settings))
    add_routes(app, ROUTES)
    return app


def _authenticator(app: web.Application, settings: RuntimeSettings) -> Authenticator:
    machine = settings.machine_token
    return Authenticator(
        tokens=token_verifier(app, settings),
        machine_token=None if machine is None else machine.get_secret_value(),
        owner=settings.owner,
        trust_loopback=bool(settings.trust_loopback),
    )


async def _embedder(app: web.Application) -> AsyncIterator[None]:
    embedder = await MiniLM.open()
    app[EMBEDDER] = embedder
    yield
    await embedder.close()


def _allowances(settings: RuntimeSettings) -> Callable[[web.Application], AsyncIterator[None]]:
    """How allowances are read: from the platform, or not at all where the operator says that there is none."""

    async def resource(app: web.Application) -> AsyncIterator[None]:
        if not settings.shares:
            app[ALLOWANCES] = NoPlatform()
            yield
            return
        shares = PlatformShares(settings.runtimes_url)
        await shares.open()
        app[ALLOWANCES] = shares
        yield
        await shares.close()

    return resource


def _appspecs(settings: RuntimeSettings) -> Callable[[web.Application], AsyncIterator[None]]:
    """The Appspecs, read once."""

    async def resource(app: web.Application) -> AsyncIterator[None]:
        if settings.apps_dir is None:
            app[APPSPECS] = Appspecs(None)
        else:
            try:
                app[APPSPECS] = await asyncio.to_thread(read_directory, settings.apps_dir)
            except NotADirectoryError as error:
                raise BadSettingError(str(error)) from error
        yield

    return resource
