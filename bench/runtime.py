"""A runtime service of its own for a measurement, in a process of its own, and what that process spends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from shared.verifier import issue

SECRET = "a-secret-of-the-measurements-with-more-than-32-bytes"  # noqa: S105 (signs tokens for this run only)
_TICK = os.sysconf("SC_CLK_TCK")
_READY_WITHIN = 60


@dataclass
class Runtime:
    """Where it answers, and its process."""

    url: str
    pid: int

    def cpu(self) -> float:
        """Seconds of processor that it has spent."""
        return process_cpu(self.pid)

    def resident(self) -> int:
        """Bytes of memory that it holds."""
        return process_resident(self.pid)


def process_cpu(pid: int) -> float:
    """Seconds of processor that a process has spent."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def process_resident(pid: int) -> int:
    """Bytes of memory that a process holds."""
    return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def headers(uid: str = "ana") -> dict[str, str]:
    """The credential of a person."""
    return {"Authorization": f"Bearer {issue(SECRET, uid, 3600)}"}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextlib.asynccontextmanager
async def running(**settings: str) -> AsyncIterator[Runtime]:
    """A runtime on an embedded PostgreSQL in a directory that is removed at the end."""
    port = free_port()
    ours = ("DATALAYER", "AGENT_RUNTIMES", "MEMORY_", "RUNTIME_", "OPENAI", "OPENROUTER")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    env |= {"MEMORY_JWT_SECRET": SECRET, "DATALAYER_USER_UID": "owner", "RUNTIME_SHARES": "off", **settings}
    with tempfile.TemporaryDirectory(prefix="rm-bench-") as directory:
        Path(directory).chmod(0o755)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "runtime_svc", "--port", str(port), "--embedded", f"{directory}/pg"),
            env=env,
            stdout=asyncio.subprocess.DEVNULL,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            await _ready(url)
            yield Runtime(url, process.pid)
        finally:
            process.terminate()
            await process.wait()


async def _ready(url: str) -> None:
    async with aiohttp.ClientSession() as session, asyncio.timeout(_READY_WITHIN):
        while True:
            with contextlib.suppress(aiohttp.ClientError):
                async with session.get(f"{url}/readyz") as response:
                    if response.status == 200:
                        return
            await asyncio.sleep(0.1)
