"""`python -m bench.hanging_llm`: what other requests take while fifty calls to the LLM hang, and without."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import aiohttp

from bench.runtime import Runtime, headers, running
from tests.openai_server import OpenAIServer, openai_server

HANGING = 50
MEMORIES = 50
CALLS = 200
ROUNDS = 3
PATH = "/api/v1/apps/memories/one"


class Requests:
    """The requests that are measured, as one person with fifty memories."""

    def __init__(self, session: aiohttp.ClientSession, runtime: Runtime) -> None:
        self._session = session
        self._url = runtime.url
        self._ids: list[str] = []

    async def ask(self, method: str, path: str, uid: str = "ana", **more: Any) -> Any:
        """Its answer; a refusal ends the measurement."""
        async with self._session.request(method, self._url + path, headers=headers(uid), **more) as response:
            told = await response.json()
            if response.status >= 400:
                raise SystemExit(f"{method} {path}: {response.status} {told}")
            return told

    async def keep(self, count: int) -> None:
        """So many memories more."""
        for _ in range(count):
            said = {"memory": f"Memory of {time.monotonic_ns()}", "wait": True}
            self._ids.append((await self.ask("POST", PATH, json=said))["results"][0]["id"])

    async def correct(self, memory_id: str) -> None:
        """New words for one."""
        await self.ask("PATCH", f"{PATH}/{memory_id}", json={"memory": f"Corrected at {time.monotonic_ns()}"})

    async def measured(self) -> dict[str, float]:
        """The 95th percentile of each, in milliseconds."""
        first = self._ids[0]
        found = {
            "list 50": await p95(CALLS, lambda _: self.ask("GET", f"{PATH}?limit=50")),
            "search": await p95(CALLS, lambda n: self.ask("POST", f"{PATH}/search", json={"query": f"Memory {n}"})),
            "correct": await p95(CALLS // 4, lambda _: self.correct(first)),
            "healthz": await p95(CALLS, lambda _: self.ask("GET", "/healthz")),
        }
        await self.keep(CALLS // 4)
        found["forget"] = await p95(CALLS // 4, lambda _: self.ask("DELETE", f"{PATH}/{self._ids.pop()}"))
        return found


async def p95(count: int, call: Callable[[int], Awaitable[Any]]) -> float:
    """Of so many calls, one after another."""
    took = []
    for number in range(count):
        started = time.perf_counter()
        await call(number)
        took.append(time.perf_counter() - started)
    return statistics.quantiles(took, n=20)[-1] * 1000


async def hang(requests: Requests, server: OpenAIServer) -> None:
    """As many learns as calls that hang, of as many people."""
    server.gate.hold()
    for number in range(HANGING):
        said = {"messages": [{"role": "user", "content": "I like tea"}]}
        await requests.ask("POST", PATH, uid=f"person-{number}", json=said)
    async with asyncio.timeout(60):
        while server.running < HANGING:
            await asyncio.sleep(0.05)


async def main() -> None:
    """Idle and hanging in turn, on one runtime; the median of the rounds."""
    idle: list[dict[str, float]] = []
    hanging: list[dict[str, float]] = []
    async with openai_server() as server:
        settings = {
            "AGENT_RUNTIMES_MEM0_CONFIG_JSON": json.dumps({"llm": server.llm()}),
            "RUNTIME_LEARN_WORKERS": str(HANGING),
            "RUNTIME_LLM_TIMEOUT": "600",
        }
        async with running(**settings) as runtime, aiohttp.ClientSession() as session:
            requests = Requests(session, runtime)
            await requests.keep(MEMORIES)
            await requests.measured()  # warm
            idle += [await requests.measured() for _ in range(ROUNDS)]
            await hang(requests, server)
            hanging += [await requests.measured() for _ in range(ROUNDS)]
            still = server.running
    report(idle, hanging, still)


def report(idle: Sequence[dict[str, float]], hanging: Sequence[dict[str, float]], still: int) -> None:
    """A line a request; ends with 1 when listing took twice as long or more."""
    sys.stdout.write(f"p95 in ms, median of {ROUNDS} rounds; {still} calls to the LLM hang in the second column\n")
    worst = 0.0
    for name in idle[0]:
        calm, busy = (statistics.median(one[name] for one in rounds) for rounds in (idle, hanging))
        sys.stdout.write(f"{name:10} {calm:8.2f} {busy:8.2f}   x{busy / calm:.2f}\n")
        worst = busy / calm if name == "list 50" else worst
    if worst >= 2 or still < HANGING:
        raise SystemExit("list 50 took twice as long, or not all calls hung.")


if __name__ == "__main__":
    asyncio.run(main())
