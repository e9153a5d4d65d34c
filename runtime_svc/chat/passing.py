"""Passes a provider's answer to the client: whole, or as a stream at the client's own pace."""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
from aiohttp import web

from runtime_svc.chat.hearing import Heard
from runtime_svc.chat.provider import Provider, ProviderFailed, passed_back, pieces, whole

_LOOK = 0.5
"""Seconds between looks for whether the client is still there."""
_DONE = re.compile(rb"^data:[ \t]*\[DONE\]", re.MULTILINE)
"""The line by which a client knows that it has the whole answer."""
_LONGEST_LINE = 1024 * 1024
Ended = Callable[[], Awaitable[None]]
"""What is done between the last words of an answer and the bytes that say so: a turn is kept before it is over."""
LEFT = 499
"""The status, seen in logs only, of a client that left."""

_STREAM_HEADERS = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}
_BROKEN_OFF = json.dumps(
    {
        "error": {
            "message": "The LLM provider broke off its answer.",
            "type": "provider_error",
            "param": None,
            "code": "provider_failed",
        }
    }
)


async def pass_on(
    request: web.Request,
    provider: Provider,
    path: str,
    body: io.BytesIO | None,
    *,
    told: Mapping[str, str],
    heard: Heard | None,
    ended: Ended | None = None,
) -> web.StreamResponse:
    """The provider's answer, with its status and what is `told` in headers. A client that leaves ends the asking.

    A body is a file: it is written piece by piece, and let go of when a stream begins, for it may be large and the
    stream long. Raises ProviderFailed and NotConfigured as long as nothing was sent.
    """
    exchange = _exchange(request, provider, path, body, told=told, heard=heard, ended=ended)
    answered = await _while_there(request, exchange)
    return web.Response(status=LEFT) if answered is None else answered


async def _exchange(
    request: web.Request,
    provider: Provider,
    path: str,
    body: io.BytesIO | None,
    *,
    told: Mapping[str, str],
    heard: Heard | None,
    ended: Ended | None = None,
) -> web.StreamResponse:
    async with provider.ask(request.method, path, body, request.headers.get("Accept", "*/*")) as answered:
        headers = {**passed_back(answered.headers), **told}
        if answered.status == 200 and answered.content_type == "text/event-stream":
            if body is not None:
                body.close()
            return await _stream(request, answered, headers, _Passing(heard, ended))
        said = await whole(answered)
        if heard is not None and answered.status == 200:
            heard.answer(said)
        if ended is not None and answered.status == 200:
            await ended()
        return web.Response(status=answered.status, body=said, headers={"Cache-Control": "no-store", **headers})


@dataclass(slots=True)
class _Passing:
    """A stream on its way: what it says is heard, and its last bytes wait for what is done before them."""

    heard: Heard | None
    ended: Ended | None

    async def lines(self, response: web.StreamResponse, some: bytes) -> None:
        """Complete lines, at once; but the one that says that it is over, and what follows, once that is so."""
        over = _DONE.search(some)
        said = some if over is None else some[: over.start()]
        if said:
            await response.write(said)
            if self.heard is not None:
                self.heard.lines(said)
        if over is not None:
            await self.whole()
            await response.write(some[over.start() :])

    async def rest(self, response: web.StreamResponse, held: bytes) -> None:
        """The provider ended the stream; what is held is a line without an end."""
        if self.heard is not None:
            self.heard.lines(held)
        await self.whole()
        if held:
            await response.write(held)

    async def whole(self) -> None:
        """All was said."""
        if self.heard is not None:
            self.heard.end()
        if self.ended is not None:
            await self.ended()


async def _stream(
    request: web.Request, answered: aiohttp.ClientResponse, headers: Mapping[str, str], passing: _Passing
) -> web.StreamResponse:
    """Each complete line as it comes; when the provider breaks off, an event that says so."""
    response = web.StreamResponse(headers={**_STREAM_HEADERS, **headers})
    await response.prepare(request)
    held = b""
    try:
        async for some in pieces(answered):
            # A client cannot use part of a line, and a broken one would stand in the way of saying what happened.
            lines, held = _complete(held + some)
            if lines:
                await passing.lines(response, lines)
    except ProviderFailed:
        if passing.ended is not None:
            await passing.ended()
        await response.write(f"\n\ndata: {_BROKEN_OFF}\n\n".encode())
    else:
        await passing.rest(response, held)
    await response.write_eof()
    return response


def _complete(some: bytes) -> tuple[bytes, bytes]:
    """The complete lines, and the rest."""
    end = some.rfind(b"\n") + 1
    return (some, b"") if len(some) - end > _LONGEST_LINE else (some[:end], some[end:])


async def _while_there(
    request: web.Request, work: Coroutine[Any, Any, web.StreamResponse]
) -> web.StreamResponse | None:
    """What the work gives, or None once the client has left: then the work is ended."""
    task = asyncio.create_task(work)
    try:
        while not (await asyncio.wait({task}, timeout=_LOOK))[0]:
            if request.transport is None or request.transport.is_closing():
                return None
        return task.result()
    except ConnectionResetError:
        return None
    finally:
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
