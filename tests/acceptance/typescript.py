"""Our TypeScript client, built from its source, in a node process."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import functools
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CLIENTS = Path(__file__).parents[2] / "clients"
_DRIVER = Path(__file__).with_name("typescript.mjs")


def npm(package: Path, *command: str) -> str:
    """What npm prints, run in a package of `clients/`; skips the test where there is no npm."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node or npm is not installed: the TypeScript sources are not built.")
    done = subprocess.run(["npm", *command], cwd=package, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def installed(name: str) -> Path:
    """A package of `clients/` with what building it needs, exactly as its lock file says."""
    package = CLIENTS / name
    lock = package / "node_modules" / ".package-lock.json"
    with _alone(name):
        if not lock.exists() or lock.stat().st_mtime < (package / "package-lock.json").stat().st_mtime:
            try:
                npm(package, "ci", "--no-audit", "--no-fund")
            except AssertionError as error:
                pytest.skip(f"npm could not fetch what clients/{name} is built with: {str(error)[:200]}")
            lock.touch()
    return package


@contextlib.contextmanager
def _alone(name: str) -> Iterator[None]:
    """One test process at a time: they share the directory."""
    cache = CLIENTS.parent / ".cache"
    cache.mkdir(exist_ok=True)
    with (cache / f"npm-{name}.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


@functools.cache
def built() -> Path:
    """The client's entry, built once in a test session."""
    package = installed("typescript")
    npm(package, "run", "build")
    return package / "dist" / "index.js"


class TypeScriptClient:
    """Calls functions, and methods as `client.NAME`, by name."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, platform: str, runtime: str) -> TypeScriptClient:
        """With the addresses that the client's methods use."""
        entry = await asyncio.to_thread(built)
        process = await asyncio.create_subprocess_exec(
            *("node", str(_DRIVER), str(entry), platform.rstrip("/"), runtime.rstrip("/")),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=2**24,
        )
        return cls(process)

    async def __call__(self, name: str, *args: Any, token: str | None = None, abort: bool = False) -> dict[str, Any]:
        """What it returns, `{"value": …}`, or what it throws, `{"error": …, "kind": …, "status": …}`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        call = {"token": token, "name": name, "args": args, "abort": abort}
        self._process.stdin.write(json.dumps(call).encode() + b"\n")
        await self._process.stdin.drain()
        return json.loads(await asyncio.wait_for(self._process.stdout.readline(), 60))

    async def stop(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        await asyncio.wait_for(self._process.wait(), 60)
        self._process._transport.close()
