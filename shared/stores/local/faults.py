"""SQLite's faults in our words. Its own text may name a path or a value, so it is only the cause."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from shared.errors import Unavailable

_SENTENCES = {
    sqlite3.SQLITE_FULL: "The disk is full: nothing was written. It works again when there is room.",
    sqlite3.SQLITE_READONLY: "The disk cannot be written: nothing was written.",
    sqlite3.SQLITE_IOERR: "The disk cannot be read or written right now: nothing was written.",
    sqlite3.SQLITE_CANTOPEN: "The store's files cannot be opened.",
    sqlite3.SQLITE_CORRUPT: "The store's database is damaged: restore the directory from a copy.",
    sqlite3.SQLITE_NOTADB: "The store's database is damaged: restore the directory from a copy.",
    sqlite3.SQLITE_BUSY: "Another program holds the store's database. Try again in a moment.",
    sqlite3.SQLITE_INTERRUPT: "That took too long to read. Ask for less.",
}
_ANY = "What is remembered cannot be reached right now. Try again in a moment."


def sentence_of(error: sqlite3.Error) -> str:
    """What the caller is told of a fault."""
    # The primary result code is the low byte of an extended one.
    return _SENTENCES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, _ANY)


@contextmanager
def in_our_words() -> Iterator[None]:
    """Every fault of SQLite as Unavailable."""
    try:
        yield
    except sqlite3.Error as error:
        raise Unavailable(sentence_of(error)) from error
