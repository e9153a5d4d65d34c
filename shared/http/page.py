"""The memory page: where a person sees what is remembered of them, under `/memories`, and its signing in and out."""

from __future__ import annotations

import gzip
import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from typing import Any, Literal

from aiohttp import web

from shared.errors import BadValue, NotAllowed, NotFound
from shared.http import body, session
from shared.http.answers import answer
from shared.http.auth import AUTHENTICATOR, answers_nobody
from shared.http.keys import CALLER
from shared.tokens import person_of

Service = Literal["platform", "runtime"]
"""Whose routes the page calls."""

LONGEST_TOKEN = 3_800
"""Characters of a token that a browser still keeps in a cookie of 4 KiB."""

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-cache",
    "Vary": "Accept-Encoding",
}


@dataclass(frozen=True, slots=True)
class File:
    """One built file of the page, as it is sent."""

    plain: bytes
    packed: bytes
    tag: str
    kind: str


@dataclass(frozen=True, slots=True)
class Page:
    """The page's files, read once, and the service that serves it."""

    files: Mapping[str, File]
    service: Service


PAGE: web.AppKey[Page] = web.AppKey("page", Page)


def routes() -> list[web.RouteDef]:
    """The routes of the page, as a table."""
    return [
        web.get("/memories", index),
        web.get("/memories/assets/{name}", asset),
        web.get(session.SESSION_PATH, who),
        web.post(session.SESSION_PATH, sign_in),
        web.delete(session.SESSION_PATH, sign_out),
    ]


def built_page(service: Service) -> Page:
    """The page as it was built: only the files that stand in the package are ever sent."""
    built = resources.files("shared") / "page"
    found = {item.name: item.read_bytes() for item in built.iterdir() if _type(item.name) is not None}
    return Page({name: _file(name, content) for name, content in found.items()}, service)


class SignIn(body.Body):
    """The token that the platform gives a person."""

    token: str


@answers_nobody
async def index(request: web.Request) -> web.Response:
    """The page itself: it holds nothing of anybody."""
    return _sent(request, request.app[PAGE].files["index.html"])


@answers_nobody
async def asset(request: web.Request) -> web.Response:
    """Its script, its style, its icon. Raises NotFound."""
    file = request.app[PAGE].files.get(request.match_info["name"])
    if file is None:
        raise NotFound("The page has no such part.")
    return _sent(request, file)


async def who(request: web.Request) -> web.Response:
    """Who is signed in, and whose routes the page calls."""
    return answer(_signed_in(request, person_of(request[CALLER])))


@answers_nobody
async def sign_in(request: web.Request) -> web.Response:
    """Start a session with a token that holds. Raises NotAuthenticated, NotAllowed, BadValue."""
    _check_mark(request)
    said = await body.read(request, SignIn)
    token = said.token.strip().removeprefix("Bearer ").strip()
    if len(token) > LONGEST_TOKEN:
        raise BadValue("This token is too long for a browser's session.")
    person, ends = await request.app[AUTHENTICATOR].sign_in(token)
    until = datetime.fromtimestamp(ends, UTC).isoformat()
    response = answer({**_signed_in(request, person.uid), "expires_at": until})
    session.keep(request, response, token, seconds=max(ends - int(time.time()), 1))
    return response


@answers_nobody
async def sign_out(request: web.Request) -> web.Response:
    """End the session of this browser."""
    _check_mark(request)
    response = answer({"success": True})
    session.drop(request, response)
    return response


def _signed_in(request: web.Request, person: str) -> dict[str, Any]:
    return {"success": True, "person": person, "service": request.app[PAGE].service}


def _check_mark(request: web.Request) -> None:
    if not session.marked(request):
        raise NotAllowed("Only the memory page signs in and out here.")


def _sent(request: web.Request, file: File) -> web.Response:
    headers = {**_HEADERS, "Content-Type": file.kind, "ETag": file.tag}
    if file.tag in request.headers.get("If-None-Match", ""):
        return web.Response(status=304, headers=headers)
    if "gzip" in request.headers.get("Accept-Encoding", "").lower():
        return web.Response(body=file.packed, headers={**headers, "Content-Encoding": "gzip"})
    return web.Response(body=file.plain, headers=headers)


def _type(name: str) -> str | None:
    return _TYPES.get(name[name.rfind(".") :])


def _file(name: str, content: bytes) -> File:
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    return File(content, gzip.compress(content, 9, mtime=0), tag, _type(name) or "")
