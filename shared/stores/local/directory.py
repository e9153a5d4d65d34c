"""The store's directory: one process owns it, and it is what it says it is, or it is refused."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from shared.errors import CannotStartError

DATABASE = "memories.sqlite3"
_LOCK = "owner.lock"
_MARKER = "store.json"
_MAGIC = b"SQLite format 3\0"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Identity:
    """What the marker beside the database and the database itself both say, so that one is never taken for another."""

    id: str
    dimensions: int


class Directory:
    """A directory that this process owns until `release`. The kernel frees a killed owner's lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = path / DATABASE
        self._locks = _claim(path)

    def release(self) -> None:
        """Let another process own it."""
        for lock in self._locks:
            os.close(lock)

    def expected(self, dimensions: int | None) -> Identity | None:
        """Whose database must be there; None when the directory is new. Refuses a torn or foreign one.

        Without dimensions, vectors of any width will do.
        """
        marker = self._read_marker()
        present = self.database.exists() and self.database.stat().st_size > 0
        if present and not self._has_magic():
            raise CannotStartError(f"{self.database} is no SQLite database, or a damaged one: restore it from a copy.")
        if marker is None:
            if not present and any(self.path.glob(f"{DATABASE}-*")):
                raise CannotStartError(f"{self.path} has a journal without its database: restore it from a whole copy.")
            return None
        if not present:
            raise CannotStartError(
                f"{self.database} is gone or empty, yet was in use: restore the directory from a copy."
            )
        if dimensions is not None and marker.dimensions != dimensions:
            raise CannotStartError(
                f"{self.path} holds vectors of {marker.dimensions} dimensions, the embedder here makes {dimensions}."
                " To change the embedder: runtime-memory re-embed."
            )
        return marker

    def make_database(self) -> None:
        """An empty file that only its owner reads; SQLite gives its journal the same mode."""
        os.close(os.open(self.database, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))

    def mark(self, identity: Identity) -> None:
        """Say, durably, that the directory is in use: from now on a missing database is a fault, not a new store."""
        content = {"store": "runtime-memory", "format": _FORMAT, "id": identity.id, "dimensions": identity.dimensions}
        passing = self.path / f".{_MARKER}.new"
        descriptor = os.open(passing, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, json.dumps(content).encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        passing.replace(self.path / _MARKER)
        self._sync()

    def _sync(self) -> None:
        descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _has_magic(self) -> bool:
        with self.database.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC

    def _read_marker(self) -> Identity | None:
        try:
            said = json.loads((self.path / _MARKER).read_text(encoding="utf-8"))
            if said["format"] != _FORMAT:
                raise CannotStartError(f"{self.path} was made by another version of this program.")
            return Identity(str(said["id"]), int(said["dimensions"]))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError) as error:
            raise CannotStartError(f"{self.path / _MARKER} is damaged: restore it from a copy.") from error


def new_identity(dimensions: int) -> Identity:
    """The identity of a new store."""
    return Identity(secrets.token_hex(16), dimensions)


def _claim(path: Path) -> list[int]:
    """The directory's own lock, and that of a file in it.

    What tidies `/tmp` may take the file away from a running owner; it leaves a directory alone that is locked itself.
    """
    held: list[int] = []
    try:
        held.append(_claim_file(path))
        held += _claim_directory(path)
    except BaseException:
        for lock in held:
            os.close(lock)
        raise
    return held


def _claim_directory(path: Path) -> list[int]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return []  # it may be used without being listed
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise CannotStartError(f"{path} is in use by another process: one process owns it.") from error
    except OSError:
        pass  # a file system that locks files only
    return [descriptor]


def _claim_file(path: Path) -> int:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_owner(path)
        descriptor = os.open(path / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise CannotStartError(f"{path} cannot be used as the store's directory: {error.strerror}.") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        owner = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
        os.close(descriptor)
        raise CannotStartError(f"{path} is in use by process {owner or '?'}: one process owns it.") from error
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except OSError as error:
        os.close(descriptor)
        raise CannotStartError(f"{path} cannot be written: {error.strerror}.") from error
    return descriptor


def _check_owner(path: Path) -> None:
    """Whoever owns a directory can put files of theirs in it: as in `/tmp`, where anybody may have made it first."""
    owner, own = path.stat().st_uid, os.geteuid()
    if own != 0 and owner not in {0, own}:
        raise CannotStartError(f"{path} belongs to another user: what is remembered is not kept there.")
