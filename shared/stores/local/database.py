"""The connections to SQLite: one that writes, a few that read, and the journal emptied after forgetting."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from shared.errors import CannotStartError, Unavailable
from shared.stores.local import filters
from shared.stores.local.faults import in_our_words, sentence_of
from shared.stores.local.gate import Gate
from shared.stores.local.lanes import Lane
from shared.stores.local.overflow import PAGE

T = TypeVar("T")
Job = Callable[[sqlite3.Connection], T]
"""Work on a connection, in a transaction that the database opens and ends."""

_READERS = 4
_SEARCHERS = 1
_LONGEST_READ = 10.0
"""Seconds; a longer read is stopped, so that it neither holds a thread nor keeps forgotten words in the journal."""
_LONGEST_SEARCH = 60.0
"""Seconds; the first search of a scope builds its index, of a very large one for a while."""
_PATIENCE = 0.25
_RETRY = 0.5
_MOST_SELDOM = 10.0
_SETTINGS = (
    f"PRAGMA page_size = {PAGE}",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA secure_delete = ON",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",  # words are sorted in memory, never in a file of /tmp
    "PRAGMA trusted_schema = OFF",
    "PRAGMA busy_timeout = 250",
)


class Database:
    """One file. Every write is one `BEGIN IMMEDIATE` transaction; every read sees one moment."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer_lane = Lane("writer", 1)
        self._reader_lane = Lane("reader", _READERS)
        self._search_lane = Lane("search", _SEARCHERS)
        self._writer: sqlite3.Connection | None = None
        self._readers = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._gate = Gate()
        self._owes = False
        self._retry: asyncio.Task[None] | None = None

    async def open(self, job: Job[T]) -> T:
        """Connect and recover, then run a first job, which makes or checks the tables. Raises CannotStartError."""
        try:
            return await self._writer_lane.run(lambda: self._first(job))
        except BaseException:
            await self.close()
            raise

    async def write(self, job: Job[T]) -> T:
        """The job in one transaction: all of it is on disk when this returns, or none. Raises Unavailable."""
        return await self._writer_lane.run(lambda: self._transaction(job))

    async def forget(self, job: Job[T]) -> T:
        """A write after which no byte of the directory holds what it deleted, as soon as no reader does."""
        result, clean = await self._writer_lane.run(
            lambda: (self._transaction(job, forgets=True), self._empty_journal())
        )
        if not clean:
            self._empty_soon()
        return result

    async def erase(self, job: Job[T]) -> T:
        """As `write`, and what it deleted is in no byte of the directory soon after: nobody waits for that."""
        result = await self._writer_lane.run(lambda: self._transaction(job, forgets=True))
        self._empty_soon()
        return result

    async def read(self, job: Job[T], *, longest: float = _LONGEST_READ) -> T:
        """The job on one snapshot, for so many seconds at most. Raises Unavailable."""
        return await self._reader_lane.run(lambda: self._snapshot(job, longest))

    async def search(self, job: Job[T]) -> T:
        """As `read`, in the threads that search, so that searching never holds up listing."""
        return await self._search_lane.run(lambda: self._snapshot(job, _LONGEST_SEARCH))

    async def close(self) -> None:
        """Finish what runs, empty the journal, close every connection."""
        if self._retry is not None:
            self._retry.cancel()
        for lane in (self._reader_lane, self._search_lane, self._writer_lane):
            await lane.close()
        await asyncio.to_thread(self._disconnect)

    def _first(self, job: Job[T]) -> T:
        try:
            self._writer = self._connect()
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            raise CannotStartError(sentence_of(error)) from error
        result = self._transaction(job)
        self._empty_journal()  # what a killed process left unfinished is let go of at the start
        return result

    def _connect(self) -> sqlite3.Connection:
        # mode=rw: a database that vanished is a fault; it is never made anew, and empty, behind our back.
        connection = sqlite3.connect(
            f"{self._path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, check_same_thread=False
        )
        self._open.append(connection)
        filters.register(connection)
        for setting in _SETTINGS:
            connection.execute(setting).fetchall()
        return connection

    def _transaction(self, job: Job[T], *, forgets: bool = False) -> T:
        writer = self._writer
        assert writer is not None  # noqa: S101 (opened before anything is served)
        with in_our_words():
            writer.execute("BEGIN IMMEDIATE")
            try:
                result = job(writer)
                self._owes = self._owes or forgets
                writer.execute("COMMIT")
            except BaseException:
                if writer.in_transaction:
                    writer.execute("ROLLBACK")
                raise
        return result

    def _snapshot(self, job: Job[T], longest: float) -> T:
        with in_our_words(), self._gate.inside():
            reader = self._reader()
            until = time.monotonic() + longest
            reader.set_progress_handler(lambda: time.monotonic() > until, 20_000)
            reader.execute("BEGIN")
            try:
                return job(reader)
            finally:
                reader.set_progress_handler(None, 0)
                if reader.in_transaction:
                    reader.execute("ROLLBACK")

    def _reader(self) -> sqlite3.Connection:
        found: sqlite3.Connection | None = getattr(self._readers, "connection", None)
        if found is None:
            found = self._connect()
            found.execute("PRAGMA query_only = ON").fetchall()
            self._readers.connection = found
        return found

    def _empty_journal(self) -> bool:
        """Move the journal into the database, over what was deleted there, and cut it to nothing. False: try again."""
        assert self._writer is not None  # noqa: S101 (opened before anything is served)
        with self._gate.alone(_PATIENCE):
            try:
                busy, _, _ = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except sqlite3.Error:
                busy = 1
        self._owes = bool(busy)
        return not busy

    def _empty_soon(self) -> None:
        if self._owes and self._retry is None:
            self._retry = asyncio.create_task(self._keep_emptying())

    async def _keep_emptying(self) -> None:
        wait = _RETRY
        try:
            while self._owes:
                await asyncio.sleep(wait)
                # A long write is in the way for longer than it is waited for: then again.
                with contextlib.suppress(Unavailable):
                    await self._writer_lane.run(self._empty_journal)
                # Each try keeps readers out for a moment: seldom enough while one reads for long.
                wait = min(wait * 2, _MOST_SELDOM)
        finally:
            self._retry = None

    def _disconnect(self) -> None:
        for connection in self._open:
            connection.close()
        self._open.clear()
