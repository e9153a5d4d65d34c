"""Every request has an id and ends in one log line."""

from __future__ import annotations

import re
import secrets
import time

import structlog
from aiohttp import web

from shared.http.errors import Handler
from shared.http.metrics import METRICS

log = structlog.get_logger()

_USABLE = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HEADER = "X-Request-ID"


@web.middleware
async def note_request(request: web.Request, handler: Handler) -> web.StreamResponse:
    """One canonical line: method, route template (never the path, which holds ids), status and time taken."""
    given = request.headers.get(_HEADER, "")
    request_id = given if _USABLE.fullmatch(given) else secrets.token_hex(16)
    structlog.contextvars.bind_contextvars(request_id=request_id)
    started = time.perf_counter()
    status = 499
    try:
        response = await handler(request)
        status = response.status
        if not response.prepared:
            response.headers[_HEADER] = request_id
    except web.HTTPException as error:
        status = error.status
        error.headers[_HEADER] = request_id
        raise
    else:
        return response
    finally:
        taken = time.perf_counter() - started
        resource = request.match_info.route.resource
        route = None if resource is None else resource.canonical
        request.app[METRICS].note(request.method, route, status, taken)
        log.info("request", method=request.method, route=route, status=status, ms=round(taken * 1000, 2))
        structlog.contextvars.unbind_contextvars("request_id")
