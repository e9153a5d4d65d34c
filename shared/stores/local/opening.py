"""Opening the store: own the directory, recover the database, and refuse what is torn rather than serve it empty."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

from shared.errors import CannotStartError
from shared.stores.local import events, outbox, state_rows
from shared.stores.local.database import Database
from shared.stores.local.directory import Directory, Identity, new_identity
from shared.stores.local.overflow import PAGE
from shared.stores.local.schema import prepare

_CHECKED_WHOLE = 64 * 1024 * 1024
"""Bytes of a database that is read whole at each start; of a larger one, its size and tables are checked."""


async def opened(path: Path, dimensions: int | None) -> tuple[Directory, Database]:
    """The directory, owned, and its database, ready. Raises CannotStartError with a sentence.

    Without dimensions the store must be there, with vectors of any width.
    """
    directory = await asyncio.to_thread(Directory, path)
    try:
        expected = await asyncio.to_thread(_expected, directory, dimensions)
        database = Database(directory.database)
        identity = await database.open(lambda connection: _checked(connection, directory, expected, dimensions))
        if expected is None:
            await asyncio.to_thread(directory.mark, identity)
    except OSError as error:
        directory.release()
        raise CannotStartError(f"{path} cannot be used as the store's directory: {error.strerror}.") from error
    except BaseException:
        directory.release()
        raise
    return directory, database


def _expected(directory: Directory, dimensions: int | None) -> Identity | None:
    expected = directory.expected(dimensions)
    if expected is None and dimensions is None:
        raise CannotStartError(f"{directory.path} holds no store.")
    if expected is None:
        directory.make_database()
    return expected


def _checked(
    connection: sqlite3.Connection, directory: Directory, expected: Identity | None, dimensions: int | None
) -> Identity:
    identity = prepare(connection, expected, None if dimensions is None else new_identity(dimensions))
    pages, page_size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    size = directory.database.stat().st_size
    if page_size != PAGE:
        raise CannotStartError("The store's database has pages of another size: it was made by another program.")
    events.release(connection)
    outbox.release(connection)
    state_rows.release(connection)
    if expected is None:
        return identity
    if size < pages * page_size:
        raise CannotStartError("The store's database is cut short: restore the directory from a copy.")
    if size <= _CHECKED_WHOLE and not _sound(connection):
        raise CannotStartError("The store's database is damaged: restore the directory from a copy.")
    return identity


def _sound(connection: sqlite3.Connection) -> bool:
    """SQLite checks its own structure; that a page of words was lost shows in the words."""
    structure = connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
    return (
        structure
        and not connection.execute("SELECT EXISTS (SELECT 1 FROM memories WHERE NOT json_valid(payload))").fetchone()[0]
    )
