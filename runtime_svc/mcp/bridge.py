"""Carries MCP messages from aiohttp to the official SDK, which speaks ASGI, and its answers back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from runtime_svc.mcp.server import Visitor, memory_server
from runtime_svc.mcp.visit import Visit
from shared.errors import WrongMediaType
from shared.http.answers import answer
from shared.http.body import LARGEST
from shared.http.errors import shape

_Message = MutableMapping[str, Any]

LOOPBACK_HOSTS = tuple(f"{name}{port}" for name in ("127.0.0.1", "localhost", "[::1]") for port in ("", ":*"))
LOOPBACK_ORIGINS = tuple(f"http://{host}" for host in LOOPBACK_HOSTS)

_CREDENTIALS = frozenset({b"authorization", b"x-api-key", b"cookie"})
"""Headers that the SDK has no need of: the caller is proved before it is asked."""
_SENTENCES = {
    403: "A page of this origin may not speak to this service: MEMORY_MCP_ALLOWED_ORIGINS does not name it.",
    406: "An MCP client accepts application/json.",
    421: "This service is not known by this host name: MEMORY_MCP_ALLOWED_HOSTS does not name it.",
}
_REFUSALS = {
    -32700: "The body is not valid JSON.",
    -32602: "The body is not a message of the Model Context Protocol, or its parameters do not fit.",
}
"""What is said for the codes of JSON-RPC with which the SDK quotes what came: it may be a memory."""
_FINISH_WITHIN = 10.0
"""Seconds that messages under way have when the service stops."""


class Bridge:
    """The MCP server behind HTTP: one JSON answer to each message, nothing kept between them."""

    def __init__(self, *, hosts: Iterable[str] = LOOPBACK_HOSTS, origins: Iterable[str] = LOOPBACK_ORIGINS) -> None:
        """`hosts` and `origins` are those that requests may name; `:*` at an end stands for any port."""
        self._manager = StreamableHTTPSessionManager(
            memory_server(),
            stateless=True,
            json_response=True,
            max_request_body_size=LARGEST,
            security_settings=TransportSecuritySettings(allowed_hosts=list(hosts), allowed_origins=list(origins)),
        )
        self._stop = asyncio.Event()
        self._serving: asyncio.Task[None] | None = None
        self._under_way: set[asyncio.Task[web.Response]] = set()

    async def open(self) -> None:
        """Start the SDK's task group, in a task of its own: it is to end in the one that it started in."""
        started = asyncio.Event()
        self._serving = asyncio.create_task(self._serve(started))
        await started.wait()

    async def close(self) -> None:
        """Let messages under way finish, then end."""
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=_FINISH_WITHIN)
        self._stop.set()
        if self._serving is not None:
            await self._serving

    async def _serve(self, started: asyncio.Event) -> None:
        async with self._manager.run():
            started.set()
            await self._stop.wait()

    async def exchange(self, request: web.Request, visit: Visit) -> web.Response:
        """The answer to one message. Raises WrongMediaType; aiohttp answers 413 for a larger body."""
        if not request.content_type.endswith("json"):
            raise WrongMediaType("The body is to be application/json.")
        body = await request.read()
        task = asyncio.create_task(self._exchange(_scope(request, visit), body, visit))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        # A client that leaves does not stop what it asked for half-way.
        return await asyncio.shield(task)

    async def _exchange(self, scope: _Message, body: bytes, visit: Visit) -> web.Response:
        told = _Told()
        heard: list[_Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> _Message:
            if heard:
                return heard.pop()
            # Asked for more than the one body, it waits: whether the client leaves changes nothing.
            return await asyncio.Future()

        await self._manager.handle_request(scope, receive, told.send)
        return told.response(ours=visit.reached.ours)


def _scope(request: web.Request, visit: Visit) -> _Message:
    headers = [(name.lower(), value) for name, value in request.raw_headers]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.scheme,
        "path": request.path,
        "raw_path": request.path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [header for header in headers if header[0] not in _CREDENTIALS],
        "client": None,
        "server": None,
        "user": Visitor(visit),
    }


@dataclass
class _Told:
    """What the SDK answers."""

    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)

    async def send(self, message: _Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {
                name.decode("latin-1").lower(): value.decode("latin-1") for name, value in message["headers"]
            }
        else:
            self.body += message.get("body", b"")

    def response(self, *, ours: bool) -> web.Response:
        """The answer as it is; a refusal in plain text, or in words of the SDK, becomes one of ours."""
        is_json = self.headers.get("content-type", "").startswith("application/json")
        if self.status >= 400 and not is_json:
            sentence = _SENTENCES.get(self.status, "This message cannot be answered.")
            return answer(shape(sentence, "refused"), status=self.status)
        self.headers.pop("content-length", None)
        body = bytes(self.body) if self.status < 400 or ours else _without_quotes(bytes(self.body))
        return web.Response(status=self.status, body=body, headers={**self.headers, "Cache-Control": "no-store"})


def _without_quotes(body: bytes) -> bytes:
    """A refusal of the SDK's, with a sentence of ours where its own would quote the body."""
    told = orjson.loads(body)
    error = told.get("error") if isinstance(told, dict) else None
    if not isinstance(error, dict) or (sentence := _REFUSALS.get(error.get("code", 0))) is None:
        return body
    return orjson.dumps({**told, "error": {"code": error["code"], "message": sentence}})
