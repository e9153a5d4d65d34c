"""Puts the platform service together: chooses the adapters, opens and closes them, adds the routes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from aiohttp import web

from runtimes_svc.bodies import BODIES
from runtimes_svc.keys import ADMINISTRATION, SHARES
from runtimes_svc.routes import ROUTES
from runtimes_svc.settings import PlatformSettings
from shared.addresses import origins_of
from shared.api_keys import Keyring
from shared.db.pool import Database
from shared.http.application import new_application, protect, token_verifier
from shared.http.auth import Authenticator
from shared.http.cors import allow_origins
from shared.http.database import database_resource
from shared.http.keys import ACCESS, API_KEYS, STORE
from shared.http.metrics import METRICS
from shared.http.openapi import describe
from shared.http.page import PAGE, built_page
from shared.http.routing import add_routes
from shared.http.states import STATES
from shared.maintaining import Upkeep
from shared.settings import BadSettingError
from shared.stores.maintenance import Maintenance
from shared.stores.pg.access import PostgresAccessRecord
from shared.stores.pg.administration import PostgresAdministration
from shared.stores.pg.api_keys import PostgresApiKeys
from shared.stores.pg.maintenance import PostgresMaintenance
from shared.stores.pg.shares import PostgresShares
from shared.stores.pg.states import PostgresStates
from shared.stores.pg.store import PostgresStore


def create_app(settings: PlatformSettings, *, dsn: str | None = None) -> web.Application:
    """The application; it connects to nothing until it starts. `dsn` is where an embedded server is.

    Raises BadSettingError.
    """
    app = new_application()
    allow_origins(app, origins_of(settings.web_origins))
    protect(app, Authenticator(tokens=token_verifier(app, settings), keys=Keyring(lambda: app[API_KEYS])))
    where = dsn or settings.dsn()
    if where is None:
        raise BadSettingError("DATALAYER_POSTGRESQL_AGENT_MEMORIES_URI (or _HOST) is missing: where is PostgreSQL?")
    database = Database(where, settings.limits)
    store = PostgresStore(database, settings.collection)
    app[STORE] = store
    app[METRICS].count("webhook_refused", "Messages refused because too many waited.", lambda: store.outbox.refused)
    app[SHARES] = PostgresShares(database)
    app[ADMINISTRATION] = PostgresAdministration(database, settings.collection)
    app[ACCESS] = PostgresAccessRecord(database)
    app[STATES] = PostgresStates(database, settings.collection, settings.dimensions)
    app[API_KEYS] = PostgresApiKeys(database)
    app[PAGE] = built_page("platform")
    app.cleanup_ctx.append(database_resource(settings, database, where))
    app.cleanup_ctx.append(_upkeep(PostgresMaintenance(database, settings.collection), settings))
    add_routes(app, ROUTES)
    describe(app, "Memory of the runtimes", BODIES)
    return app


def _upkeep(maintenance: Maintenance, settings: PlatformSettings) -> Callable[[web.Application], AsyncIterator[None]]:
    """What has expired goes, whether or not a runtime runs; there is no embedder here."""

    async def resource(_: web.Application) -> AsyncIterator[None]:
        running = Upkeep(maintenance, None, grace_days=settings.expiry_grace_days)
        running.start()
        yield
        await running.close()

    return resource
