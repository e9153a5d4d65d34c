"""The directory of an embedded PostgreSQL: who owns it, where its socket is, and the locks in it."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import os
import pwd
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared.errors import CannotStartError

SYSTEM_USER = "pgserver"
TURN = "turn.lock"
SOCKET = ".s.PGSQL.5432"
SOCKET_PATH_LIMIT = 103  # bytes: sun_path has 104 on macOS and 108 on Linux, one of them for the end
POLL = 0.02


class EmbeddedServerError(CannotStartError):
    """The embedded server cannot be had; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Directory:
    """A prepared directory. `identity` are the arguments of a subprocess that must run as the server's own user."""

    home: Path
    socket_dir: Path
    identity: dict[str, Any]

    @property
    def data(self) -> Path:
        """PostgreSQL's own data directory."""
        return self.home / "data"

    @property
    def address(self) -> str:
        """The path of the server's socket."""
        return str(self.socket_dir / SOCKET)


class Lock:
    """A flock on a file of its own; freed by the kernel when its process dies, however it dies."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)

    def attempt(self, how: int) -> bool:
        """Take it now (LOCK_SH or LOCK_EX), or say that somebody else has it."""
        try:
            fcntl.flock(self._file, how | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    async def take(self, how: int, *, within: float) -> None:
        """Wait for it without stopping the event loop."""
        deadline = asyncio.get_running_loop().time() + within
        while not self.attempt(how):
            if asyncio.get_running_loop().time() > deadline:
                raise EmbeddedServerError(
                    f"Another process has been starting or stopping the embedded server for {within:.0f} s."
                )
            await asyncio.sleep(POLL)

    def close(self) -> None:
        """Let go of it."""
        os.close(self._file)


def prepare(directory: Path, *, programs: Path) -> Directory:
    """Make the directory, and let the user that the server runs as reach it and PostgreSQL's programs."""
    home = directory.expanduser().resolve()
    home.mkdir(parents=True, exist_ok=True)
    # In this order: another process may be the first here just now, and that lock is the first thing it makes.
    if any(home.iterdir()) and not (home / TURN).exists():
        raise EmbeddedServerError(
            f"{home} is not empty and holds no embedded server: name an empty or a new directory."
        )
    socket_dir = _socket_dir(home)
    if os.geteuid() == 0:
        return Directory(home, socket_dir, _lend(home, socket_dir, programs))
    for path in (home, socket_dir):
        if path.stat().st_uid != os.geteuid():
            raise EmbeddedServerError(f"{path} belongs to another user of this machine.")
        path.chmod(0o700)  # the socket trusts whoever reaches it
    return Directory(home, socket_dir, {})


def _lend(home: Path, socket_dir: Path, programs: Path) -> dict[str, Any]:
    """Root's part: PostgreSQL does not run as root, so it runs as the directory's owner or as a user of its own."""
    uid, gid = home.stat().st_uid, home.stat().st_gid
    if uid == 0:
        uid, gid = _server_user()
    for path in (home, socket_dir):
        os.chown(path, uid, gid)
        path.chmod(0o700)
        _let_through(path)
    _let_through(programs)
    _let_read(programs.parent)
    return {"user": uid, "group": gid, "extra_groups": []}


def _server_user() -> tuple[int, int]:
    """The user of our servers, made when it is not there."""
    command = ["useradd", "--system", "--shell", "/bin/sh", SYSTEM_USER]
    for attempt in range(2):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(SYSTEM_USER)
            return entry.pw_uid, entry.pw_gid
        if attempt == 0:
            # Two processes may both come here: the loser's useradd fails and finds the winner's user.
            with contextlib.suppress(OSError):
                subprocess.run(command, check=False, capture_output=True)  # noqa: S603 - a constant command
    raise EmbeddedServerError(f"PostgreSQL does not run as root, and its user {SYSTEM_USER} could not be made.")


def _socket_dir(home: Path) -> Path:
    """The directory itself, unless its path cannot be a socket's: then a private one with a short name."""
    fits = len(os.fsencode(home / SOCKET)) <= SOCKET_PATH_LIMIT
    if fits and "," not in str(home):  # a comma separates hosts in a DSN
        return home
    name = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
    short = Path(tempfile.gettempdir()).resolve() / f"runtime-memory-{name}"
    with contextlib.suppress(FileExistsError):
        short.mkdir(mode=0o700)
    if not stat.S_ISDIR(short.lstat().st_mode):
        raise EmbeddedServerError(f"{short} is in the way of the embedded server's socket.")
    return short


def _let_through(path: Path) -> None:
    """Make every parent searchable for others, and nothing more, so that the server's user can reach what is inside."""
    for parent in path.resolve().parents:
        mode = stat.S_IMODE(parent.stat().st_mode)
        if not mode & stat.S_IXOTH:
            parent.chmod(mode | stat.S_IXOTH)


def _let_read(programs: Path) -> None:
    """Make the installed programs readable, which they are unless they were installed under a strict umask."""
    if programs.stat().st_mode & stat.S_IROTH and (programs / "bin" / "postgres").stat().st_mode & stat.S_IXOTH:
        return
    for path in [programs, *programs.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        extra = stat.S_IROTH | (stat.S_IXOTH if path.is_dir() or mode & stat.S_IXUSR else 0)
        path.chmod(mode | extra)
