"""Released programs that stand on the Mem0 Platform, unmodified: how each is fetched, and what it is asked to do."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.acceptance.mem0_clients import CACHE, run
from tests.fetched import NPM_INSTALL

_HERE = Path(__file__).parent
SEARCHED = "I love hiking in the mountains"


def python_tool(package: str, *beside: str) -> Path:
    """The `bin` directory of an environment with a released package."""
    home = CACHE / f"tool-{package.partition('==')[0]}"
    if not (home / ".complete").exists():
        run(sys.executable, "-m", "venv", str(home))
        run(str(home / "bin/python"), "-m", "pip", "install", "--quiet", *beside, package)
        (home / ".complete").touch()
    return home / "bin"


def node_tool(*packages: str) -> Path:
    """A directory with released npm packages."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node or npm is not installed: the JavaScript provider is not driven.")
    home = CACHE / "tool-vercel"
    if not (home / ".complete").exists():
        home.mkdir(parents=True, exist_ok=True)
        run(*NPM_INSTALL, str(home), *packages)
        (home / ".complete").touch()
    return home


async def said(*command: str, key: str, host: str, home: Path) -> str:
    """What a program prints, in an environment of its own. An exit code but 0 fails the test with what it said."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "MEM0_API_KEY": key,
        "MEM0_BASE_URL": host,
        "MEM0_HOST": host,
        "MEM0_TELEMETRY": "False",
        "MEM0_DIR": str(home / "mem0"),
    }
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=environment
    )
    out, err = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == 0, (command, out.decode()[-1500:], err.decode()[-1500:])
    return out.decode()


def script(name: str) -> str:
    """A driver beside this file."""
    return str(_HERE / name)


def last_json(text: str) -> dict[str, object]:
    """The last line of what a driver printed."""
    found: dict[str, object] = json.loads(text.strip().splitlines()[-1])
    return found
