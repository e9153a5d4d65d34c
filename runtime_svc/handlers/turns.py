"""The turn that a request belongs to, and what it reads with."""

from __future__ import annotations

import re

from aiohttp import web

from runtime_svc.finding import Reader
from runtime_svc.keys import ALLOWANCES, APPSPECS, EMBEDDER, RERANKER
from runtime_svc.turns import Turn
from shared.http.keys import CALLER, CREDENTIAL, STORE

_TURN_ID = re.compile(r"[\x21-\x7e]{1,128}")


def turn(request: web.Request) -> Turn:
    """Who is calling; requests with the same usable `X-Turn-Id` are one turn, any other is one of its own."""
    given = request.headers.get("X-Turn-Id", "")
    return Turn(request[CALLER], request[CREDENTIAL], given if _TURN_ID.fullmatch(given) else None)


def reader(request: web.Request) -> Reader:
    """What this runtime reads with."""
    app = request.app
    return Reader(app[STORE], app[EMBEDDER], app[ALLOWANCES], app[APPSPECS], app.get(RERANKER))
