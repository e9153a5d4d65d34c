"""The process that keeps the embedded PostgreSQL running while somebody holds its directory, and then stops it.

It runs detached, on the standard library alone, so that no holder's death, however sudden, takes the database away from
the others: each holder has a shared lock on `holders.lock`, the kernel frees a killed one's, and whoever can take that
lock exclusively knows that nobody is left. `embedded.py` writes the order that this process follows.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO

HOLDERS = "holders.lock"
KEEPER = "keeper.lock"
LOG = "postgres.log"
LOG_LIMIT = 1_000_000
GIVE_UP_AFTER = 20.0
SHORT_LIFE = 5.0


def opened(path: Path) -> BinaryIO:
    """A file to lock or to append to. Never through a link: root must not be led elsewhere by the server's user."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, 0o600), "ab")


def listening(address: str) -> bool:
    """Whether a server accepts connections there. A dead or unreaped server never does, whatever its pid file says."""
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as probe:
        probe.settimeout(2)
        try:
            probe.connect(address)
        except OSError:
            return False
        return True


def occupants(data: Path) -> list[int]:
    """The processes that work in the data directory (postmaster and backends do), where the system can tell."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (entry / "cwd").samefile(data):
                found.append(int(entry.name))
    return found


def clear_stale_locks(data: Path, address: str) -> None:
    """Remove the pid files of a server that is gone, once nothing works in its directory any more.

    PostgreSQL refuses to start while the pid in them exists: it may be a zombie, or anybody's after a reboot.
    """
    deadline = time.monotonic() + GIVE_UP_AFTER
    while occupants(data) and time.monotonic() < deadline:
        time.sleep(0.05)
    if Path("/proc/self/cwd").exists() and not occupants(data):
        for stale in (data / "postmaster.pid", Path(f"{address}.lock")):
            stale.unlink(missing_ok=True)


class Keeper:
    """One embedded server: started here, or adopted when an earlier keeper was killed."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.order = order
        self.data = Path(order["data"])
        self.stopping = threading.Event()

    def spawn(self, command: list[str], output: Any) -> subprocess.Popen[bytes]:
        """Start a program of PostgreSQL as the user the server belongs to."""
        identity = self.order["identity"]
        return subprocess.Popen(  # noqa: S603 - the command comes from the holder, not from a request
            command,
            cwd=self.data,
            env=self.order["env"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            **identity,
        )

    def run_server(self) -> None:
        """Run the server until it is told to stop; start it again when it is killed, unless it cannot live."""
        log = self.data.parent / LOG
        while not self.stopping.is_set():
            clear_stale_locks(self.data, self.order["address"])
            began = time.monotonic()
            with opened(log) as output:
                if output.tell() > LOG_LIMIT:
                    output.truncate(0)
                code = self.spawn(self.order["start"], output).wait()
            if not self.stopping.is_set() and (code == 0 or time.monotonic() - began < SHORT_LIFE):
                # Somebody stopped it on purpose, or it cannot live: then its reason stands in the log, where the
                # holder that waits for it reads it.
                os._exit(1)

    def keep(self, mine: BinaryIO) -> None:
        """Return when nobody holds the directory any more and the server has stopped."""
        server = threading.Thread(target=self.run_server, daemon=True)
        if not listening(self.order["address"]):
            server.start()
        with opened(self.data.parent / HOLDERS) as holders:
            fcntl.flock(holders, fcntl.LOCK_EX)
            self.stopping.set()
            deadline = time.monotonic() + GIVE_UP_AFTER
            while self.spawn(self.order["stop"], subprocess.DEVNULL).wait() and server.is_alive():
                if time.monotonic() > deadline:
                    break
                time.sleep(0.05)  # a server so young that it has no pid file yet
            if server.is_alive():
                server.join(GIVE_UP_AFTER)
            mine.close()  # before the other lock: who takes that one next must see that no keeper is left


def main() -> None:
    """Keep the server of the directory that the order names, unless another process already does."""
    order = json.loads(sys.argv[1])
    home = Path(order["data"]).parent
    mine = opened(home / KEEPER)
    try:
        fcntl.flock(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return
    if os.fork():
        os._exit(0)  # the holder waits for this half only; the lock lives on in the other one
    os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    Keeper(order).keep(mine)


if __name__ == "__main__":
    main()
