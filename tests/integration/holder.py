"""A process that holds an embedded server until TERM: `python -m tests.integration.holder DIRECTORY UID`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from shared.db.embedded import embedded


async def hold(directory: Path) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with embedded(directory, durable=False):
        print("held", flush=True)  # noqa: T201 - the test waits for this line
        await stop.wait()


if __name__ == "__main__":
    uid = int(sys.argv[2])
    if uid != os.geteuid():
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
    os.environ["HOME"] = "/"
    asyncio.run(hold(Path(sys.argv[1])))
