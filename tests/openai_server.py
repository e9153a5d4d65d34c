"""A small OpenAI-compatible server on loopback, the only stand-in of the tests: what it answers is set by the test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from aiohttp import web

from tests.waiting import Gate, until

Answer = str | Callable[[dict[str, Any]], str]


def memory(*facts: str, attributed_to: str = "user") -> str:
    """An LLM's answer in the format that mem0's extraction prompt asks for."""
    said = [{"id": str(n), "text": fact, "attributed_to": attributed_to} for n, fact in enumerate(facts)]
    return json.dumps({"memory": said})


@dataclass
class OpenAIServer:
    """What the server answers next, and what it was asked."""

    answer: Answer = '{"memory": []}'
    """The text of a completion, or a function of the request's body."""
    status: int = 200
    statuses: list[int] = field(default_factory=list)
    """Statuses of the next answers; `status` once they are used up."""
    gate: Gate = field(default_factory=Gate)
    """Where completions wait while a test holds them."""
    pause: float = 0.0
    """Seconds that a completion takes besides."""
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    """A body in place of a completion."""
    dimensions: int = 8
    embed_status: int = 200
    longest_input: int | None = None
    """Code points beyond which an embedding is refused with 400."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    """Bodies of the completions asked for."""
    embedded: list[list[str]] = field(default_factory=list)
    """Inputs of the embeddings asked for."""
    running: int = 0
    most_running: int = 0
    url: str = ""

    def llm(self, **config: Any) -> dict[str, Any]:
        """The `llm` part of AGENT_RUNTIMES_MEM0_CONFIG_JSON that names this server."""
        config = {"api_key": "secret-api-key", "openai_base_url": self.url, "model": "m", **config}
        return {"provider": "openai", "config": config}

    def embedder(self, **config: Any) -> dict[str, Any]:
        """The `embedder` part of it."""
        return self.llm(embedding_dims=self.dimensions, **config)

    def prompt(self, number: int = -1) -> str:
        """The user's part of a completion asked for."""
        return str(self.requests[number]["messages"][-1]["content"])

    async def asked(self, count: int = 1) -> None:
        """Return when so many completions were asked for."""
        await until(lambda: len(self.requests) >= count)

    async def complete(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.requests.append(body)
        await self._wait()
        status = self.statuses.pop(0) if self.statuses else self.status
        if self.raw is not None:
            return web.Response(status=status, body=self.raw, content_type="application/json", headers=self.headers)
        text = self.answer(body) if callable(self.answer) else self.answer
        return web.json_response(_completion(text), status=status, headers=self.headers)

    async def embed(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.embedded.append(body["input"])
        if self.longest_input is not None and any(len(text) > self.longest_input for text in body["input"]):
            return web.json_response({"error": {"message": "too long"}}, status=400)
        data = [
            {"object": "embedding", "index": n, "embedding": self.vector(text)} for n, text in enumerate(body["input"])
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        answer = {"object": "list", "model": "m", "data": data, "usage": usage}
        return web.json_response(answer, status=self.embed_status)

    def vector(self, text: str) -> list[float]:
        """The same for the same text, not of unit length, unlike others."""
        rng = np.random.default_rng(list(text.encode("utf-8", "surrogatepass")) or [0])
        return [float(number) for number in rng.normal(size=self.dimensions)]

    async def _wait(self) -> None:
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await asyncio.sleep(self.pause)
            await self.gate.passed()
        finally:
            self.running -= 1


def _completion(text: str) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


@asynccontextmanager
async def openai_server() -> AsyncIterator[OpenAIServer]:
    """Serve on a free port of loopback until the block ends; what waits is let go then."""
    server = OpenAIServer()
    app = web.Application(client_max_size=64 * 1024**2)
    app.router.add_post("/v1/chat/completions", server.complete)
    app.router.add_post("/v1/embeddings", server.embed)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield server
    finally:
        server.gate.let_go()
        await runner.cleanup()
