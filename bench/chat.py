"""`python -m bench.chat`: the first byte of a streamed answer, and the memory that many slow streams take.

Direct to a provider on loopback, through the door with memory disabled (the bare proxy), and with memory.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web

from bench.runtime import Runtime, headers, running

FACTS = 200
ROUNDS = 200
STREAMS = 200
_STREAM_SECONDS = 8
_WARM_UP = 20
_PATH = "/api/v1/llm/gateway/chat/completions"
_WORD = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}


@asynccontextmanager
async def provider() -> AsyncIterator[str]:
    """Streams three words; or, asked for it, words of 1 kB until the client leaves."""

    async def complete(request: web.Request) -> web.StreamResponse:
        endless = (await request.json())["model"] == "endless"
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        word = {**_WORD, "choices": [{"index": 0, "delta": {"content": "x" * (1000 if endless else 1)}}]}
        line = f"data: {json.dumps(word)}\n\n".encode()
        try:
            for _ in range(1_000_000 if endless else 3):
                await response.write(line)
            await response.write(b"data: [DONE]\n\n")
        except ConnectionError:
            pass
        return response

    app = web.Application(client_max_size=64 * 1024**2)
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    await runner.cleanup()


async def first_byte(session: aiohttp.ClientSession, url: str, body: dict[str, object]) -> float:
    """Milliseconds until an answer begins; it is read to its end."""
    began = time.perf_counter()
    async with session.post(url, json=body) as response:
        await response.content.readany()
        taken = (time.perf_counter() - began) * 1000
        assert response.status == 200, await response.text()
        await response.read()
    return taken


async def slow(session: aiohttp.ClientSession, url: str) -> None:
    """Read a little of an endless stream, and then no more."""
    async with session.post(url, json=asking("endless")) as response:
        await response.content.readany()
        await asyncio.sleep(_STREAM_SECONDS)
        response.close()


def asking(model: str = "m", **more: object) -> dict[str, object]:
    question = {"role": "user", "content": "Which dinner would fit my diet?"}
    return {"model": model, "stream": True, "messages": [question], **more}


async def main(rounds: int) -> None:
    async with (
        provider() as upstream,
        running(MEMORY_CHAT_BASE_URL=upstream, MEMORY_RECALL_BUDGET_MS="5000") as runtime,
    ):
        sent = {**headers(), "X-App-Id": "app-1"}
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(headers=sent, connector=connector, read_bufsize=4096) as session:
            for number in range(FACTS):
                fact = {"memory": f"Fact {number}: likes dish number {number} for dinner", "wait": True}
                async with session.post(f"{runtime.url}/api/v1/apps/memories/app-1", json=fact) as response:
                    assert response.status == 200, await response.text()
            await measure_first_byte(session, f"{upstream}/chat/completions", runtime.url + _PATH, rounds)
            await measure_slow_streams(session, runtime)


async def measure_first_byte(session: aiohttp.ClientSession, direct: str, door: str, rounds: int) -> None:
    ways = {
        "direct to the provider": (direct, asking()),
        "bare proxy (memory disabled)": (door, asking(mem0_config={"enabled": False})),
        f"with memory, {FACTS} memories": (door, asking()),
    }
    taken: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(rounds + _WARM_UP):
        for way, (url, body) in ways.items():
            ms = await first_byte(session, url, body)
            if number >= _WARM_UP:
                taken[way].append(ms)
    print(f"{'first byte of a stream':34} {'p50 ms':>8} {'p95 ms':>8}   ({rounds} interleaved rounds)")
    for way, times in taken.items():
        print(f"{way:34} {statistics.median(times):8.1f} {statistics.quantiles(times, n=20)[18]:8.1f}")


async def measure_slow_streams(session: aiohttp.ClientSession, runtime: Runtime) -> None:
    before = runtime.resident()
    reading = [asyncio.create_task(slow(session, runtime.url + _PATH)) for _ in range(STREAMS)]
    held = []
    for _ in range(_STREAM_SECONDS):
        await asyncio.sleep(1)
        held.append(f"{(runtime.resident() - before) / 1e6:.0f}")
    await asyncio.gather(*reading)
    print(f"{STREAMS} slow streams hold, MB after each second: {', '.join(held)}")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
