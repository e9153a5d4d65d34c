"""Released Datalayer software, unmodified, fetched once into the cache of tests: the client for browsers and the Python package."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.fetched import FETCHED, NPM_INSTALL

PACKAGE = "agent-runtimes==1.5.85"
JSDOM = "jsdom@26.1.0"

_CACHE = FETCHED / "released"
_DRIVER = Path(__file__).with_name("released.mjs")


def _run(*command: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=500)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"{command[0].rsplit('/', 1)[-1]} could not fetch {command[-1]}: {type(error).__name__}.")


def javascript_client() -> Path:
    """The compiled client of the released wheel; the page it needs is beside it."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node or npm is not installed: the released client for browsers is not driven.")
    wheel = _CACHE / "wheel"
    if not (wheel / "agent_runtimes").exists():
        _run(
            sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(_CACHE / "download"), PACKAGE
        )
        [archive] = (_CACHE / "download").glob("agent_runtimes-1.5.85-*.whl")
        with zipfile.ZipFile(archive) as files:
            files.extractall(wheel, [name for name in files.namelist() if "/static/dist/assets/" in name])
    page = _CACHE / "page"
    if not (page / "node_modules" / "jsdom").exists():
        page.mkdir(parents=True, exist_ok=True)
        _run(*NPM_INSTALL, str(page), JSDOM)
    scripts = (wheel / "agent_runtimes" / "static" / "dist" / "assets").glob("runtimes-*.js")
    [client] = [script for script in scripts if "allowRuntimeMemoryShare" in script.read_text("utf-8")]
    return client


def python_package() -> Path:
    """The interpreter of an environment in which the released package is installed as it is published."""
    environment = _CACHE / "environment"
    python = environment / "bin" / "python"
    if not (environment / "complete").exists():
        uv = str(Path(sys.executable).parent / "uv")
        shutil.rmtree(environment, ignore_errors=True)
        _run(uv, "venv", "--quiet", "--python", sys.executable, str(environment))
        _run(uv, "pip", "install", "--quiet", "--python", str(python), PACKAGE)
        (environment / "complete").touch()
    return python


class JavaScriptClient:
    """The released client in a node process: calls its functions by name."""

    def __init__(self, process: asyncio.subprocess.Process, base: str) -> None:
        self._process = process
        self._base = base

    @classmethod
    async def start(cls, base: str) -> JavaScriptClient:
        """Against the platform at an address."""
        client = javascript_client()
        process = await asyncio.create_subprocess_exec(
            "node",
            str(_DRIVER),
            str(client),
            str(_CACHE / "page"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=2**24,
        )
        return cls(process, base.rstrip("/"))

    async def __call__(self, name: str, *args: Any) -> dict[str, Any]:
        """What a function returns, `{"value": …}`, or what it throws, `{"error": …, "status": …, "kind": …}`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        call = {"name": name, "args": [*args, self._base]}
        self._process.stdin.write(json.dumps(call).encode() + b"\n")
        await self._process.stdin.drain()
        return json.loads(await asyncio.wait_for(self._process.stdout.readline(), 60))

    async def stop(self) -> None:
        """End the process."""
        self._process.stdin.close()
        await asyncio.wait_for(self._process.wait(), 60)
        self._process._transport.close()


async def python_says(code: str, *args: str, **environment: str) -> tuple[int, str]:
    """The exit code and output of a few lines run by the released package's interpreter."""
    python = await asyncio.to_thread(python_package)
    process = await asyncio.create_subprocess_exec(
        str(python),
        "-c",
        code,
        *args,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={"PATH": "/usr/bin:/bin", "HOME": str(_CACHE), "COLUMNS": "300", "NO_COLOR": "1", **environment},
    )
    output, _ = await asyncio.wait_for(process.communicate(), 100)
    return process.returncode or 0, output.decode()
