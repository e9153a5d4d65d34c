"""`make soak`: both services driven at random for a long time, each answer held to a model; then rounds of kills.

Steps of the driver are shared by both stores. A failure is made small and printed as the steps that lead to it. Memory
and open files of the process are printed at each tenth: they are to level out.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg
import click
import pytest
import structlog

from shared.db.embedded import ROLE, EmbeddedServer
from tests.faults.mixed import rounds_of_kills
from tests.isolation.playing import STEPS, play, stage
from tests.services import environment

_PARTS = 10
_FEWEST = 20
"""Lives at a time: the first few that hypothesis makes are the simplest, in which nothing happens."""


def resident() -> int:
    """Mebibytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024**2


@contextmanager
def postgres(directory: Path) -> Iterator[str]:
    """An embedded server with a database of its own."""
    server = asyncio.run(EmbeddedServer.hold(directory / "pg", durable=False))
    name = f"soak_{secrets.token_hex(4)}"

    async def furnish() -> None:
        admin = await asyncpg.connect(server.admin_dsn)
        await admin.execute(f"CREATE DATABASE {name} TEMPLATE {ROLE} OWNER {ROLE} STRATEGY FILE_COPY")
        await admin.close()

    asyncio.run(furnish())
    yield server.dsn_of(name, role=ROLE)
    asyncio.run(server.release())


def drive(dsn: str | None, directory: Path, steps: int) -> None:
    """So many steps on one store."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment(RUNTIME_SHARES="off").items():
            patch.setenv(name, value)
        with stage(patch, dsn=dsn, directory=directory) as on:
            for part in range(1, _PARTS + 1):
                began, calls = time.perf_counter(), on.calls
                while on.steps < steps * part // _PARTS:
                    play(on, max(_FEWEST, steps // _PARTS // STEPS), at_random=True)
                each = (time.perf_counter() - began) / max(1, on.calls - calls) * 1000
                files = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 (a count)
                print(
                    f"  {on.steps:>7} steps {on.calls:>8} requests {each:6.2f} ms {resident():>5} MiB {files:>4} files"
                )


@click.command()
@click.option("--steps", default=100_000, show_default=True, help="Steps of the driver, half of them on each store.")
@click.option("--kills", default=20, show_default=True, help="Rounds in which a service or PostgreSQL is killed.")
def main(steps: int, kills: int) -> None:
    """Drive both services at random, then kill them at random."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    with tempfile.TemporaryDirectory(prefix="rm-soak-") as name:
        directory = Path(name)
        directory.chmod(0o755)
        with postgres(directory) as dsn:
            print("PostgreSQL:")
            drive(dsn, directory, steps // 2)
        print("The local store:")
        drive(None, directory / "kept", steps // 2)
        if kills:
            print("Kills:")
            for line in asyncio.run(rounds_of_kills(directory / "killed", kills, seed=secrets.randbits(32))):
                print(f"  {line}")


if __name__ == "__main__":
    main()
