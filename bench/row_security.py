"""`python -m bench.row_security`: what PostgreSQL's row-level security costs: list 50 with and without, in turns.

Two runtimes on servers of their own, the same data; another person at each request, so that each one is told anew.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import time

import aiohttp

from bench.runtime import Runtime, headers, running

PEOPLE = 60
MEMORIES = 50
ROUNDS = 8
REQUESTS = 400
PATH = "/api/v1/apps/memories/desk"


async def fill(session: aiohttp.ClientSession, runtime: Runtime) -> None:
    for n in range(PEOPLE):
        messages = [{"role": "user", "content": f"Fact {m} of {n}"} for m in range(MEMORIES)]
        said = {"messages": messages, "wait": True}
        async with session.post(runtime.url + PATH, json=said, headers=headers(f"p{n}")) as response:
            if response.status != 200:
                raise SystemExit(await response.text())


async def one_round(session: aiohttp.ClientSession, runtime: Runtime, tokens: list[dict[str, str]]) -> list[float]:
    """Milliseconds of each request, one after the other."""
    took = []
    for _ in range(REQUESTS):
        began = time.perf_counter()
        async with session.get(f"{runtime.url}{PATH}?limit=50", headers=random.choice(tokens)) as response:
            await response.read()
        took.append((time.perf_counter() - began) * 1000)
    return took


async def main() -> None:
    tokens = [headers(f"p{n}") for n in range(PEOPLE)]
    took: dict[str, list[float]] = {"off": [], "on": []}
    ratios = []
    async with (
        running(MEMORY_ROW_SECURITY="0") as off,
        running(MEMORY_ROW_SECURITY="1") as on,
        aiohttp.ClientSession() as session,
    ):
        for runtime in (off, on):
            await fill(session, runtime)
            await one_round(session, runtime, tokens)
        for number in range(ROUNDS):
            both = [("off", off), ("on", on)][:: 1 if number % 2 == 0 else -1]
            medians = {}
            for name, runtime in both:
                found = await one_round(session, runtime, tokens)
                took[name] += found
                medians[name] = statistics.median(found)
            ratios.append(medians["on"] / medians["off"])
    for name, all_of in took.items():
        quick = sorted(all_of)
        print(f"{name:>4}: p10 {quick[len(quick) // 10]:.2f} p50 {statistics.median(quick):.2f} ms")
    print(
        f"on / off, median of {ROUNDS} rounds: {statistics.median(ratios):.3f}  ({min(ratios):.2f}–{max(ratios):.2f})"
    )


if __name__ == "__main__":
    asyncio.run(main())
