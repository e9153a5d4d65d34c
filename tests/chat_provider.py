"""An OpenAI-compatible provider on loopback for conversations: it answers, streams, breaks off, as the test says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.waiting import Gate


@dataclass
class Provider:
    """What it says next, and what it was asked."""

    words: list[str] = field(default_factory=lambda: ["Hello", ", ", "Ana"])
    status: int = 200
    body: bytes | None = None
    """An answer in place of a completion."""
    headers: dict[str, str] = field(default_factory=dict)
    stays_after_done: asyncio.Event | None = None
    """A stream does not end, after the line that says so, before this is set."""
    holds_after: int | None = None
    """How many words of a stream come before the gate."""
    gate: Gate = field(default_factory=Gate)
    breaks_off_after: int | None = None
    """How many words of a stream come before the connection is cut, in the middle of a line."""
    asked: list[bytes] = field(default_factory=list)
    """Bodies, as they came."""
    sent: list[dict[str, str]] = field(default_factory=list)
    """Headers, as they came."""
    streaming: int = 0
    written: int = 0
    """Words of streams that the connection has taken."""
    left: int = 0
    """How many streams ended because the client closed."""
    url: str = ""

    def said(self, number: int = -1) -> dict[str, Any]:
        """What it was asked, read."""
        return json.loads(self.asked[number])

    async def complete(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(await request.read())
        self.sent.append(dict(request.headers))
        if self.status != 200 or self.body is not None:
            return web.Response(
                status=self.status, body=self.body or b"{}", content_type="application/json", headers=self.headers
            )
        if self.said().get("stream") is True:
            return await self._stream(request)
        message = {"role": "assistant", "content": "".join(self.words)}
        return web.json_response(
            {**completion("chat.completion"), "choices": [{"index": 0, "finish_reason": "stop", "message": message}]},
            headers=self.headers,
        )

    async def models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "m", "object": "model"}]})

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8", **self.headers})
        await response.prepare(request)
        self.streaming += 1
        try:
            for number, word in enumerate(self.words):
                if self.holds_after is not None and number >= self.holds_after:
                    await self.gate.passed()
                line = f"data: {json.dumps(chunk(word))}\n\n".encode()
                if number == self.breaks_off_after:
                    await response.write(line[:20])
                    request.transport.abort()
                    return response
                await response.write(line)
                self.written += 1
            await response.write(b"data: [DONE]\n\n")
            if self.stays_after_done is not None:
                await self.stays_after_done.wait()
            await response.write_eof()
        except (ConnectionError, asyncio.CancelledError):
            self.left += 1
        finally:
            self.streaming -= 1
        return response


def completion(kind: str) -> dict[str, Any]:
    return {"id": "x", "object": kind, "created": 1, "model": "m"}


def chunk(word: str) -> dict[str, Any]:
    return {**completion("chat.completion.chunk"), "choices": [{"index": 0, "delta": {"content": word}}]}


@asynccontextmanager
async def chat_provider() -> AsyncIterator[Provider]:
    """Serve on a free port of loopback until the block ends."""
    provider = Provider()
    app = web.Application(client_max_size=64 * 1024**2)
    app.router.add_post("/v1/chat/completions", provider.complete)
    app.router.add_get("/v1/models", provider.models)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    provider.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield provider
    finally:
        provider.gate.let_go()
        await runner.cleanup()
