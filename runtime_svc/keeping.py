"""Where a runtime keeps what it remembers: PostgreSQL when it is configured, else a directory of this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

from aiohttp import web
from pydantic import SecretStr

from runtime_svc.keys import OUTBOX, QUEUE
from runtime_svc.settings import RuntimeSettings
from shared.db.pool import Database
from shared.errors import CannotStartError
from shared.http.data import DATA
from shared.http.database import database_resource
from shared.http.health import READY
from shared.http.keys import ACCESS, API_KEYS, CLIENT_RECORDS, MAINTENANCE, STORE
from shared.http.routing import add_routes
from shared.http.states import STATES, routes
from shared.kept_secret import kept_secret
from shared.settings import BadSettingError
from shared.stores.pg.access import PostgresAccessRecord
from shared.stores.pg.api_keys import PostgresApiKeys
from shared.stores.pg.client_records import PostgresClientRecords
from shared.stores.pg.data import PostgresData
from shared.stores.pg.maintenance import PostgresMaintenance
from shared.stores.pg.queue import PostgresQueue
from shared.stores.pg.store import PostgresStore

Resource = Callable[[web.Application], AsyncIterator[None]]

_SECRET = "jwt.secret"  # noqa: S105 (the name of a file)


def keeps_locally(settings: RuntimeSettings, dsn: str | None) -> bool:
    """Whether the local store is used. Raises BadSettingError when PostgreSQL is asked for and not configured."""
    if settings.backend == "postgres" and dsn is None:
        raise BadSettingError("DATALAYER_POSTGRESQL_AGENT_MEMORIES_URI (or _HOST) is missing: where is PostgreSQL?")
    return settings.backend == "faiss" or dsn is None


def in_postgres(app: web.Application, settings: RuntimeSettings, dsn: str) -> None:
    """Keep everything in PostgreSQL."""
    database = Database(dsn, settings.limits)
    store = PostgresStore(database, settings.collection)
    app[STORE] = store
    app[OUTBOX] = store.outbox
    app[ACCESS] = PostgresAccessRecord(database)
    app[API_KEYS] = PostgresApiKeys(database)
    app[QUEUE] = PostgresQueue(database)
    app[MAINTENANCE] = PostgresMaintenance(database, settings.collection)
    app[CLIENT_RECORDS] = PostgresClientRecords(database)
    app[DATA] = PostgresData(database)
    app.cleanup_ctx.append(database_resource(settings, database, dsn))


def locally(app: web.Application, settings: RuntimeSettings) -> None:
    """Keep everything in the directory of the settings."""

    async def resource(app: web.Application) -> AsyncIterator[None]:
        # Imported here: FAISS takes a while, and a runtime on PostgreSQL never needs it.
        from shared.stores.local.access import LocalAccessRecord  # noqa: PLC0415
        from shared.stores.local.maintenance import LocalMaintenance  # noqa: PLC0415
        from shared.stores.local.queue import LocalQueue  # noqa: PLC0415
        from shared.stores.local.store import LocalStore  # noqa: PLC0415

        store = await LocalStore.open(settings.directory, dimensions=settings.dimensions)
        app[STORE] = store
        app[OUTBOX] = store.outbox
        app[QUEUE] = LocalQueue(store.database)
        app[ACCESS] = LocalAccessRecord(store.database)
        app[MAINTENANCE] = LocalMaintenance(store.database, dimensions=settings.dimensions)
        app[API_KEYS] = store.api_keys
        app[DATA] = store.data
        app[STATES] = store.states
        app[CLIENT_RECORDS] = store.client_records

        async def ready() -> bool:
            return True

        app[READY]["local store"] = ready
        yield
        await store.close()

    app.cleanup_ctx.append(resource)
    # There is no platform beside a local store: what it serves for a person is served here.
    add_routes(app, routes())


def for_this_machine(settings: RuntimeSettings, host: str, *, embedded: bool) -> RuntimeSettings:
    """The settings with what a laptop needs when nothing is configured: a local store that only this machine reaches.

    Then a secret is made once, and callers on this machine without a token are the owner. Anywhere else nothing is
    filled in, and what is missing refuses to start.
    """
    configured = settings.jwt_secret is not None or settings.jwks_url is not None
    here = host in {"127.0.0.1", "::1", "localhost"}
    if configured or embedded or not here or not keeps_locally(settings, settings.dsn()):
        return settings
    trust = True if settings.trust_loopback is None else settings.trust_loopback
    owner = settings.owner or "owner"
    secret = SecretStr(local_secret(settings.directory))
    # Nothing is configured, so nobody set up a platform either: there is nothing to ask what a person allowed.
    shares = settings.shares and settings.runtimes_url is not None
    filled_in = {"jwt_secret": secret, "trust_loopback": trust, "owner": owner, "shares": shares}
    return settings.model_copy(update=filled_in)


def local_secret(directory: Path) -> str:
    """The secret that verifies tokens where nothing is configured: made once, in a file only its owner reads."""
    path = directory / _SECRET
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return kept_secret(path)
    except OSError as error:
        raise CannotStartError(f"{directory} cannot be used as the store's directory: {error.strerror}.") from error
