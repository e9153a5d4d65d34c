"""What the applications of both services have in common: middlewares in order, health, limits."""

from __future__ import annotations

from aiohttp import web

from shared.http.accesses import record_access
from shared.http.auth import AUTHENTICATOR, Authenticator, authenticating
from shared.http.body import LARGEST
from shared.http.errors import translate_errors
from shared.http.health import DRAINING, READY, healthz, readyz
from shared.http.metrics import METRICS, Metrics, metrics
from shared.http.requests import note_request
from shared.http.routing import add_routes
from shared.jwks import KeySet
from shared.settings import BadSettingError, Settings
from shared.verifier import TokenVerifier


def token_verifier(app: web.Application, settings: Settings) -> TokenVerifier:
    """How tokens are verified; an issuer's keys are let go of when the application ends. Raises BadSettingError."""
    if settings.jwt_secret is None and settings.jwks_url is None:
        raise BadSettingError("MEMORY_JWT_SECRET or MEMORY_JWKS_URL is missing: how are tokens verified?")
    keys = None if settings.jwks_url is None else KeySet(settings.jwks_url)

    async def close(_: web.Application) -> None:
        if keys is not None:
            await keys.close()

    app.on_cleanup.append(close)
    return TokenVerifier(
        secret=None if settings.jwt_secret is None else settings.jwt_secret.get_secret_value(),
        keys=keys,
        audience=settings.jwt_audience,
        issuer=settings.jwt_issuer,
    )


def new_application() -> web.Application:
    """An application that answers health and numbers; `protect` it, then add resources and routes."""
    app = web.Application(middlewares=[note_request, translate_errors], client_max_size=LARGEST)
    app[READY] = {}
    app[DRAINING] = []
    app[METRICS] = Metrics()
    add_routes(app, [web.get("/healthz", healthz), web.get("/readyz", readyz), web.get("/metrics", metrics)])
    return app


def protect(app: web.Application, authenticator: Authenticator) -> None:
    """Default deny: every route but health asks who is calling, and what is done in another's name is recorded."""
    app[AUTHENTICATOR] = authenticator
    app.middlewares.extend([authenticating(authenticator), record_access])
