"""`python -m bench.services [ROWS …]`: a list of fifty over HTTP, ours beside stock mem0 and the bare floor.

Every server is a process of its own on the same database; they are asked in turn, round by round.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

import aiohttp

from bench.filled import fill, server
from bench.load import WARM, Asked, ask
from bench.people import ANA, People
from bench.report import Table, note_run, percentile
from bench.runtime import SECRET, free_port, headers, process_cpu, process_resident

ROUNDS = 5
SECONDS = 1.0
AT_ONCE = 16
_UID = ANA.application.removeprefix("app:")


@dataclass
class Target:
    """One server: what is asked of it, and what it took round by round."""

    name: str
    url: str
    pid: int
    headers: Mapping[str, str] = field(default_factory=dict)
    alone: list[Asked] = field(default_factory=list)
    many: list[Asked] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    resident: int = 0

    async def round(self) -> None:
        self.alone.append(await ask(self.url, dict(self.headers), at_once=1, seconds=SECONDS / 2))
        before = process_cpu(self.pid)
        self.many.append(await ask(self.url, dict(self.headers), at_once=AT_ONCE, seconds=SECONDS))
        self.resident = max(self.resident, process_resident(self.pid))
        answered = len(self.many[-1].took)
        self.cpu.append((process_cpu(self.pid) - before) / (answered * (1 + WARM / SECONDS)) * 1e6)

    @property
    def throughput(self) -> float:
        return statistics.median(one.throughput for one in self.many)


@contextlib.asynccontextmanager
async def process(*arguments: str, port: int, ready: str, **env: str) -> AsyncIterator[int]:
    """A server of a measurement, until it is no longer needed; its process id. Its log goes to a file, as in use."""
    ours = ("DATALAYER", "AGENT_RUNTIMES", "MEMORY_", "RUNTIME_", "OPENAI", "OPENROUTER")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    with tempfile.TemporaryFile() as log:
        running = await asyncio.create_subprocess_exec(sys.executable, *arguments, env={**kept, **env}, stdout=log)
    try:
        async with aiohttp.ClientSession() as session, asyncio.timeout(60):
            while True:
                with contextlib.suppress(aiohttp.ClientError):
                    async with session.get(f"http://127.0.0.1:{port}{ready}") as response:
                        if response.status == 200:
                            break
                await asyncio.sleep(0.1)
        yield running.pid
    finally:
        running.terminate()
        await running.wait()


@contextlib.asynccontextmanager
async def targets(dsn: str) -> AsyncIterator[list[Target]]:
    """The floor, ours and stock, all up at once."""
    ours = {
        "MEMORY_JWT_SECRET": SECRET,
        "RUNTIME_SHARES": "off",
        "DATALAYER_POSTGRESQL_AGENT_MEMORIES_URI": dsn,
        "DATALAYER_USER_UID": "owner",
    }
    ports = [free_port() for _ in range(4)]
    url = [f"http://127.0.0.1:{port}" for port in ports]
    as_ana = headers(ANA.person)
    async with contextlib.AsyncExitStack() as stack:
        start = stack.enter_async_context
        bare = await start(process("-m", "bench.servers", "bare", str(ports[0]), dsn, port=ports[0], ready="/hello"))
        stock = await start(process("-m", "bench.servers", "stock", str(ports[1]), dsn, port=ports[1], ready="/list"))
        runtime = await start(
            process("-m", "runtime_svc", "--port", str(ports[2]), port=ports[2], ready="/readyz", **ours)
        )
        platform = await start(
            process("-m", "runtimes_svc", "--port", str(ports[3]), port=ports[3], ready="/readyz", **ours)
        )
        yield [
            Target("aiohttp hello", f"{url[0]}/hello", bare),
            Target("aiohttp + asyncpg + orjson", f"{url[0]}/list", bare),
            Target("ours, runtime", f"{url[2]}/api/v1/apps/memories/{_UID}?limit=50", runtime, as_ana),
            Target(
                "ours, platform",
                f"{url[3]}/api/runtimes/v1/memories?agent_id={ANA.application}&limit=50",
                platform,
                as_ana,
            ),
            Target("stock mem0 get_all", f"{url[1]}/list", stock),
        ]


async def measure(rows: int, rounds: int) -> Table:
    """One table for a size."""
    async with server() as held:
        filled = await fill(held.dsn, People(rows))
        async with targets(filled.dsn) as asked:
            for _ in range(rounds):
                for target in asked:
                    await target.round()
    floor, stock = asked[1].throughput, asked[-1].throughput
    table = Table(
        f"List 50 of 200 over HTTP, {rows:,} memories",
        [
            "server",
            "p50 ms",
            "p95 ms",
            f"a second, {AT_ONCE} at once",
            "CPU µs each",
            "MB held",
            "× stock",
            "of the bare floor",
        ],
    )
    for target in asked:
        took = [taken * 1000 for one in target.alone for taken in one.took]
        table.add(
            target.name,
            percentile(took, 50),
            percentile(took, 95),
            target.throughput,
            statistics.median(target.cpu),
            target.resident / 1e6,
            target.throughput / stock,
            target.throughput / floor,
        )
    return table


async def main(sizes: list[int], rounds: int = ROUNDS) -> None:
    note_run("services", [await measure(rows, rounds) for rows in sizes])


if __name__ == "__main__":
    asyncio.run(main([int(one) for one in sys.argv[1:]] or [100_000]))
