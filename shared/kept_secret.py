"""A secret that is made once and kept in a file that only its owner reads."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

_SHORTEST = 32


def kept_secret(path: Path) -> str:
    """The secret of a file: made whole or not at all, whatever ends the process, and the same for all who come first.

    One that a full disk or a kill cut short was never anybody's: it is made again. Raises OSError.
    """
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(48))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(fresh)
        if len(_read(path)) < _SHORTEST:
            fresh.replace(path)
        return _read(path)
    finally:
        fresh.unlink(missing_ok=True)


def _read(path: Path) -> str:
    return path.read_text("utf-8").strip()
