"""One runtime as a process of its own, on the store that its settings name, to be killed."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from tests.faults.fleet import OURS, READY_WITHIN, free_port
from tests.services import environment


def keeping(dsn: str | None, directory: Path) -> dict[str, str]:
    """Settings by which a runtime keeps its memories in PostgreSQL, or in a directory."""
    where = {"AGENT_RUNTIMES_MEM0_DIR": str(directory)}
    if dsn is None:
        return {**where, "AGENT_RUNTIMES_MEM0_BACKEND": "faiss"}
    return {**where, "DATALAYER_POSTGRESQL_AGENT_MEMORIES_URI": dsn}


@asynccontextmanager
async def runtime(settings: dict[str, str], log: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """A runtime in a process of its own, and its address."""
    port = free_port()
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(OURS)}
    said = environment(RUNTIME_SHARES="off", **settings)
    with log.open("ab") as file:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "runtime_svc", "--port", str(port)),
            env={**inherited, **said},
            stdout=file,
            stderr=file,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        async with asyncio.timeout(READY_WITHIN), aiohttp.ClientSession() as session:
            while not await _ready(session, address):
                assert process.returncode is None, log.read_text()
                await asyncio.sleep(0.1)
        yield process, address
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _ready(session: aiohttp.ClientSession, address: str) -> bool:
    try:
        async with session.get(f"{address}/readyz") as response:
            return response.status == 200
    except aiohttp.ClientError:
        return False
