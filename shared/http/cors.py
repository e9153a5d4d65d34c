"""Which web pages may call: the origins that the operator names, and none by default."""

from __future__ import annotations

from aiohttp import web
from aiohttp.typedefs import Handler

from shared.http.answers import answer

_METHODS = "GET, POST, PUT, PATCH, DELETE"
_HEADERS = (
    "Accept, Authorization, Cache-Control, Content-Type, Idempotency-Key, MCP-Protocol-Version, Mcp-Method, Mcp-Name,"
    " Pragma, X-API-Key, X-App-Id, X-On-Behalf-Of, X-Request-ID, X-Turn-Id"
)
_SHOWN = "Retry-After, WWW-Authenticate, X-Memory-Recall, X-Request-ID"


def allow_origins(app: web.Application, origins: frozenset[str]) -> None:
    """Let pages of these origins call. The preflight of a page comes without a credential and is answered here."""

    @web.middleware
    async def answer_preflight(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers and allowed(request):
            response = answer({})
            response.headers.update(_PREFLIGHT)
            return response
        return await handler(request)

    async def mark(request: web.Request, response: web.StreamResponse) -> None:
        # On every answer, errors and streams too: without these the page cannot even read why it was refused.
        if "Origin" in request.headers:
            response.headers.add("Vary", "Origin")
        if allowed(request):
            response.headers["Access-Control-Allow-Origin"] = request.headers["Origin"]
            response.headers["Access-Control-Allow-Credentials"] = "true"
            response.headers["Access-Control-Expose-Headers"] = _SHOWN

    def allowed(request: web.Request) -> bool:
        return request.headers.get("Origin", "").lower() in origins

    if origins:
        app.middlewares.insert(0, answer_preflight)
        app.on_response_prepare.append(mark)


_PREFLIGHT = {
    "Access-Control-Allow-Methods": _METHODS,
    "Access-Control-Allow-Headers": _HEADERS,
    "Access-Control-Max-Age": "600",
}
