"""Both services as processes of their own on one embedded PostgreSQL, to be killed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import aiohttp

from tests.ports import free_port
from tests.services import PATIENT, bearer, environment
from tests.waiting import until

OURS = ("DATALAYER_", "AGENT_RUNTIMES_", "MEMORY_", "RUNTIME_", "OPENROUTER_", "OPENAI_", "MEM0_")
SERVICES = ("runtime_svc", "runtimes_svc")
READY_WITHIN = 60.0
YOUNG = 6.0
"""Seconds that PostgreSQL must have lived to be started again when it is killed."""


@dataclass
class Fleet:
    """The processes, and a client of theirs."""

    directory: Path
    logs: Path
    settings: dict[str, str] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=lambda: {name: free_port() for name in SERVICES})
    processes: dict[str, asyncio.subprocess.Process] = field(default_factory=dict)
    postgres_since: float = 0.0
    killed: int = 0
    """The process of PostgreSQL that was killed last."""
    program: tuple[str, ...] = ("-m", "{name}")
    """How a service's program is named to Python."""
    session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self.directory.mkdir(parents=True, exist_ok=True)
        self.directory.chmod(0o755)
        self.logs.mkdir(parents=True, exist_ok=True)
        # No connection is kept: whether a server that ends had read the next request is not to be guessed.
        self.session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(force_close=True, limit=0), timeout=aiohttp.ClientTimeout(total=60)
        )
        for name in SERVICES:
            await self.start(name)
        self.postgres_since = time.monotonic()
        return self

    async def __aexit__(self, *_: object) -> None:
        for process in self.processes.values():
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
        for process in self.processes.values():
            await process.wait()
        if self.session is not None:
            await self.session.close()

    async def start(self, name: str) -> None:
        """Start one and wait until it takes work."""
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(OURS)}
        said = environment(RUNTIME_SHARES="off", **(PATIENT | self.settings))
        with (self.logs / f"{name}.log").open("ab") as log:
            self.processes[name] = await asyncio.create_subprocess_exec(
                sys.executable,
                *(part.format(name=name) for part in self.program),
                *("--port", str(self.ports[name]), "--embedded", str(self.directory / "pg")),
                env={**inherited, **said},
                stdout=log,
                stderr=log,
            )
        await self.ready(name)

    async def ready(self, name: str) -> None:
        """Return when it takes work."""
        async with asyncio.timeout(READY_WITHIN):
            while (await self.ask(name, "GET", "/readyz"))[0] != 200:
                assert self.processes[name].returncode is None, f"{name} ended"
                await asyncio.sleep(0.1)

    async def ask(self, name: str, method: str, path: str, *, uid: str = "ana", **more: Any) -> tuple[int, Any]:
        """A request as a person; status 0 when the service was not there, or went away meanwhile."""
        assert self.session is not None
        url = f"http://127.0.0.1:{self.ports[name]}{path}"
        try:
            async with self.session.request(method, url, headers=bearer(uid), **more) as response:
                return response.status, await response.json()
        except (aiohttp.ClientError, TimeoutError):
            return 0, None

    async def kill(self, name: str) -> None:
        """End one service at once, or the server of PostgreSQL."""
        if name == "postgres":
            while time.monotonic() - self.postgres_since < YOUNG:
                await asyncio.sleep(0.1)
            [self.killed] = self._postmasters()
            os.kill(self.killed, signal.SIGKILL)
            return
        self.processes[name].kill()
        await self.processes[name].wait()

    async def mend(self, name: str) -> None:
        """Have everything running again; PostgreSQL's keeper starts it by itself."""
        if name == "postgres":
            await until(lambda: self._postmasters() not in ([], [self.killed]))
            for one in SERVICES:
                await self.ready(one)
            self.postgres_since = time.monotonic()
        else:
            await self.start(name)

    def _postmasters(self) -> list[int]:
        """The process of PostgreSQL, once it says which one it is."""
        with contextlib.suppress(FileNotFoundError):  # one that ends takes its file with it
            return [int(path.read_text().splitlines()[0]) for path in self.directory.rglob("postmaster.pid")]
        return []
