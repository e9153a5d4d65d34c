"""The memory page's session: a cookie with the person's token, which is a credential for the page only."""

from __future__ import annotations

from urllib.parse import urlsplit

from aiohttp import web

MARK = "memory-page"
"""What the page says in `X-Requested-With`. Another site's page cannot say it without being asked about it first."""

SESSION_PATH = "/memories/session"
_APIS = ("/api/runtimes/v1/", "/api/v1/apps/", "/api/memory")
"""What the page calls; what other programs call is not the session's."""
_PLAIN = "memory-session"
_SECURE = "__Host-memory-session"


def session_token(request: web.Request) -> str | None:
    """The token of the page's own request: from the cookie, with the page's mark, from the page's own origin.

    None for every other request: then the cookie is no credential, as if it had not come.
    """
    reads = request.path.startswith(_APIS) or (request.path.rstrip("/") == SESSION_PATH and request.method == "GET")
    if not reads or not marked(request):
        return None
    return request.cookies.get(_name(request)) or None


def marked(request: web.Request) -> bool:
    """Whether the page itself sent this: it has the mark, and nothing says that it comes from another origin."""
    if request.headers.getall("X-Requested-With", []) != [MARK]:
        return False
    # What a browser says by itself decides, for a proxy may have changed the host that we are asked for.
    sites = request.headers.getall("Sec-Fetch-Site", [])
    if sites:
        return sites == ["same-origin"]
    return all(_host(origin) == request.host.lower() for origin in request.headers.getall("Origin", []))


def keep(request: web.Request, response: web.StreamResponse, token: str, *, seconds: int) -> None:
    """Put the token in the cookie: no script reads it, no other site's request carries it."""
    response.set_cookie(
        _name(request), token, max_age=seconds, path="/", httponly=True, samesite="Strict", secure=_encrypted(request)
    )


def drop(request: web.Request, response: web.StreamResponse) -> None:
    """Forget the cookie."""
    response.del_cookie(_name(request), path="/", httponly=True, samesite="Strict", secure=_encrypted(request))


def _encrypted(request: web.Request) -> bool:
    # A proxy that ends TLS says so. Who says so falsely gets a cookie of their own that their browser will not send.
    return request.secure or request.headers.get("X-Forwarded-Proto", "").strip().lower() == "https"


def _name(request: web.Request) -> str:
    # The prefix keeps a sibling host from putting a cookie of its own here; browsers accept it with Secure only.
    return _SECURE if _encrypted(request) else _PLAIN


def _host(origin: str) -> str | None:
    try:
        parts = urlsplit(origin.lower())
    except ValueError:
        return None
    return parts.netloc if parts.scheme in {"http", "https"} else None
