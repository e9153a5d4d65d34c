"""Released mem0 clients, unmodified, each fetched once into the cache of tests and driven in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fetched import FETCHED, NPM_INSTALL

CACHE = FETCHED / "mem0-clients"
_HERE = Path(__file__).parent

SEEN: dict[str, dict[str, str]] = {}
"""What each client's methods did in this session."""
WORKED: list[str] = []
"""The programs that did what they are for in this session."""


@dataclass(frozen=True)
class Client:
    """A released client: its registry, its version, and how it is driven."""

    registry: str
    version: str
    mode: str = ""

    @property
    def name(self) -> str:
        return f"{self.registry} mem0ai {self.version}{' ' + self.mode if self.mode else ''}"

    def fetch(self) -> list[str]:
        """The command that drives it, up to the key. Skips, in a sentence, where it cannot be had."""
        return self._python() if self.registry == "Python" else self._node()

    def _python(self) -> list[str]:
        home = CACHE / f"python-{self.version}"
        if not (home / ".complete").exists():
            run(sys.executable, "-m", "venv", str(home))
            run(str(home / "bin/python"), "-m", "pip", "install", "--quiet", f"mem0ai=={self.version}")
            (home / ".complete").touch()
        return [str(home / "bin/python"), str(_HERE / "mem0_client.py")]

    def _node(self) -> list[str]:
        if shutil.which("node") is None or shutil.which("npm") is None:
            pytest.skip("node or npm is not installed: the JavaScript clients are not driven.")
        home = CACHE / f"npm-{self.version}"
        if not (home / ".complete").exists():
            home.mkdir(parents=True, exist_ok=True)
            run(*NPM_INSTALL, str(home), f"mem0ai@{self.version}")
            (home / ".complete").touch()
        return ["node", str(_HERE / "mem0_client.mjs"), str(home)]

    async def drive(self, key: str, host: str) -> dict[str, str]:
        """What became of each method, by its name."""
        command = [*await asyncio.to_thread(self.fetch), key, host, *([self.mode] if self.mode else [])]
        # The clients of 2024 call the library of their time in ways that warn today.
        environment = {**os.environ, "MEM0_TELEMETRY": "False", "PYTHONWARNINGS": "ignore"}
        process = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=environment
        )
        out, err = await asyncio.wait_for(process.communicate(), 300)
        lines = out.decode().strip().splitlines()
        assert "".join(lines[-1:]).startswith("{"), err.decode()[-2000:]
        found: dict[str, str] = json.loads(lines[-1])
        return found


SHORT = [Client("Python", "2.2.1", "sync"), Client("Python", "0.1.118", "sync"), Client("npm", "3.3.1")]
ALL = [
    *(
        Client("Python", version, mode)
        for version in ("2.2.1", "1.0.11", "0.1.118", "0.1.29")
        for mode in ("sync", "async")
    ),
    *(Client("npm", version) for version in ("3.3.1", "2.4.6")),
]


def run(*command: str) -> None:
    """A command that fetches. Skips, in a sentence, where it cannot."""
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=300)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"{Path(command[0]).name} could not fetch {command[-1]}: {type(error).__name__}.")
