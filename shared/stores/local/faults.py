"""SQLite's faults in our words. Its own text may name a path or a value, so it is only the cause."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from shared.errors import OurFault, ServiceError, Unavailable
from shared.logs import fault

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
# What it refuses for what it was asked: it would refuse the same again.
_REFUSALS = frozenset(
    {
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_MISUSE,
        sqlite3.SQLITE_RANGE,
        sqlite3.SQLITE_TOOBIG,
    }
)
_ANY = "What is remembered cannot be reached right now. Try again in a moment."


log = structlog.get_logger()


def sentence_of(error: sqlite3.Error) -> str:
    """What the caller is told of a fault."""
    return _SENTENCES.get(_code_of(error), _ANY)


@contextmanager
def in_our_words() -> Iterator[None]:
    """Every fault of SQLite as Unavailable, and as OurFault what it was wrongly asked, which is noted by its class."""
    try:
        yield
    except sqlite3.Error as error:
        raise _in_our_words(error) from error


def _in_our_words(error: sqlite3.Error) -> ServiceError:
    if _code_of(error) not in _REFUSALS:
        return Unavailable(sentence_of(error))
    log.error("store.refused", **fault(error))
    return OurFault()


def _code_of(error: sqlite3.Error) -> int:
    # The primary result code is the low byte of an extended one.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
