"""Puts the runtime service together: chooses the adapters, opens and closes them, adds the routes."""

from __future__ import annotations

from aiohttp import web

from runtime_svc import keeping, resources
from runtime_svc.bodies import BODIES
from runtime_svc.learning_resource import engine_config, learning_resource
from runtime_svc.routes import LOCAL_ROUTES, ROUTES
from runtime_svc.settings import RuntimeSettings
from runtime_svc.unkept import keep_nothing, mem0_installed
from shared.addresses import origins_of
from shared.api_keys import Keyring
from shared.http.application import new_application, protect, token_verifier
from shared.http.auth import Authenticator
from shared.http.cors import allow_origins
from shared.http.keys import API_KEYS
from shared.http.openapi import describe
from shared.http.page import PAGE, built_page
from shared.http.routing import add_routes


def create_app(settings: RuntimeSettings, *, dsn: str | None = None) -> web.Application:
    """The application; it connects to nothing until it starts. `dsn` is where an embedded server is.

    Raises BadSettingError.
    """
    app = new_application()
    allow_origins(app, origins_of(settings.web_origins))
    protect(app, _authenticator(app, settings))
    where = dsn or settings.dsn()
    if keeping.keeps_locally(settings, where):
        keeping.locally(app, settings)
        app[PAGE] = built_page("runtime")
        add_routes(app, LOCAL_ROUTES)
    elif where is not None:
        keeping.in_postgres(app, settings, where)
    if not mem0_installed():
        app.cleanup_ctx.append(keep_nothing)
    engine = engine_config(settings)
    app.cleanup_ctx.extend(
        [
            resources.embedder(settings, engine),
            resources.reranker(settings, engine),
            resources.entities(settings),
            resources.allowances(settings),
            resources.appspecs(settings),
            resources.mcp(settings),
            resources.webhooks(settings),
            learning_resource(settings, engine),
            resources.upkeep(settings),
            resources.chat(settings),
        ]
    )
    add_routes(app, ROUTES)
    describe(app, "Runtime memory", BODIES)
    return app


def _authenticator(app: web.Application, settings: RuntimeSettings) -> Authenticator:
    machine = settings.machine_token
    return Authenticator(
        tokens=token_verifier(app, settings),
        keys=Keyring(lambda: app[API_KEYS]),
        machine_token=None if machine is None else machine.get_secret_value(),
        owner=settings.owner,
        trust_loopback=bool(settings.trust_loopback),
    )
