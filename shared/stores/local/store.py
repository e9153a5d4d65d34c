"""`MemoryStore` in a directory of this machine: opens the transaction and calls the module of each table."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

import structlog

from shared.candidates import Candidates
from shared.entities import Entity
from shared.errors import ForgottenMeanwhile
from shared.filters import Filter
from shared.forgotten import Forgotten
from shared.records import (
    ApplicationSummary,
    By,
    Change,
    Delete,
    Event,
    Memory,
    Outcome,
    Page,
    Patch,
    Receipt,
    Revision,
    Vector,
)
from shared.scope import Reach, Scope
from shared.stores.barring import FORGOTTEN
from shared.stores.local import events, forgetting, history, reading, receipts, rows, scopes, search, writing
from shared.stores.local.api_keys import LocalApiKeys
from shared.stores.local.cache import IndexCache
from shared.stores.local.client_records import LocalClientRecords
from shared.stores.local.data import LocalData
from shared.stores.local.database import Database
from shared.stores.local.directory import Directory
from shared.stores.local.entities import entities
from shared.stores.local.importing import Imported, import_beside, import_stock
from shared.stores.local.opening import opened
from shared.stores.local.outbox import LocalOutbox
from shared.stores.local.states import LocalStates
from shared.stores.outbox import told_of
from shared.stores.ports import Accepted
from shared.times import now

log = structlog.get_logger()

T = TypeVar("T")

CACHE_BYTES = 256 * 1024 * 1024


class LocalStore:
    """The memories of people in one SQLite database, searched by FAISS indexes that are built from it in memory."""

    def __init__(self, directory: Directory, database: Database, *, dimensions: int, cache_bytes: int) -> None:
        self._directory = directory
        self._database = database
        self._dimensions = dimensions
        self._cache = IndexCache(dimensions, cache_bytes)
        self.api_keys = LocalApiKeys(database)
        self.data = LocalData(database)
        self.states = LocalStates(database, self._cache, dimensions)
        self.client_records = LocalClientRecords(database)
        self.outbox = LocalOutbox(database)

    @classmethod
    async def open(cls, directory: Path, *, dimensions: int, cache_bytes: int = CACHE_BYTES) -> Self:
        """Own a directory, made when new, and take over what a stock client left in it.

        Raises CannotStartError: in use, damaged, or of another embedder.
        """
        owned, database = await opened(directory, dimensions)
        store = cls(owned, database, dimensions=dimensions, cache_bytes=cache_bytes)
        try:
            taken = await import_beside(database, directory, dimensions=dimensions)
        except BaseException:
            await store.close()
            raise
        if taken.collections:
            log.info("local.imported", **asdict(taken))
        return store

    async def import_stock(self, source: Path, *, dry_run: bool = False) -> Imported:
        """Take over what a stock mem0 client kept in another directory, or count what would be."""
        return await import_stock(self._database, source, dimensions=self._dimensions, dry_run=dry_run)

    @property
    def database(self) -> Database:
        """The database, for what else is kept in it: `LocalQueue`, `LocalAccessRecord`."""
        return self._database

    async def close(self) -> None:
        """Finish what runs and let another process own the directory."""
        await self._database.close()
        self._directory.release()

    async def page(
        self,
        reach: Reach,
        *,
        limit: int,
        offset: int = 0,
        after: str | None = None,
        where: Filter | None = None,
        show_expired: bool = False,
    ) -> Page:
        """See the port."""
        return await self._database.read(
            lambda connection: reading.page(
                connection, reach, limit=limit, offset=offset, after=after, where=where, show_expired=show_expired
            )
        )

    async def count(self, reach: Reach, *, where: Filter | None = None, show_expired: bool = False) -> int:
        """See the port."""
        return await self._database.read(
            lambda connection: reading.count(connection, reach, where=where, show_expired=show_expired)
        )

    async def get(self, reach: Reach, memory_id: str) -> Memory | None:
        """See the port."""
        return await self._database.read(lambda connection: reading.get(connection, reach, memory_id))

    async def candidates(
        self,
        reach: Reach,
        *,
        vector: Vector | None,
        lexemes: Sequence[str],
        limit: int = 100,
        where: Filter | None = None,
        show_expired: bool = False,
    ) -> Candidates:
        """See the port."""
        return await self._database.search(
            lambda connection: search.candidates(
                connection,
                self._cache,
                reach,
                vector=vector,
                lexemes=lexemes,
                limit=limit,
                where=where,
                show_expired=show_expired,
            )
        )

    async def epoch(self, scope: Scope) -> int:
        """See the port."""
        return await self._database.read(lambda connection: scopes.epoch(connection, scope))

    async def commit(
        self, scope: Scope, changes: Sequence[Change], by: By, *, accepted: Accepted | None = None
    ) -> list[Outcome]:
        """See the port."""

        def job(connection: sqlite3.Connection) -> list[Outcome]:
            event_id = None if accepted is None else accepted.event_id
            if accepted is not None and scopes.epoch(connection, scope) != accepted.epoch:
                raise ForgottenMeanwhile(FORGOTTEN)
            wanted = changes if event_id is None else events.unbarred(connection, scope, event_id, changes)
            going_on = self._writing(connection, scope, by)
            outcomes = [outcome for one in wanted if (outcome := writing.change(going_on, one)) is not None]
            if event_id is not None:
                events.end(connection, scope, event_id, outcomes, going_on.at)
            self.outbox.write(connection, scope, told_of((one.id, one.event) for one in outcomes))
            return outcomes

        if any(isinstance(change, Delete) for change in changes):
            return await self._told(self._database.forget(job))
        return await self._told(self._database.write(job) if accepted is None else self._database.erase(job))

    async def _told(self, change: Awaitable[T]) -> T:
        """Make a change; what it leaves to tell is sent when it was made."""
        done = await change
        self.outbox.settle()
        return done

    async def correct(self, reach: Reach, memory_id: str, patch: Patch, by: By) -> Memory | None:
        """See the port."""

        def job(connection: sqlite3.Connection) -> Memory | None:
            scope = reading.scope_of(connection, reach, memory_id)
            before = None if scope is None else rows.find(connection, scope, memory_id)
            if scope is None or before is None:
                return None
            after = writing.rewrite(self._writing(connection, scope, by), before, patch)
            if after is not before.memory:
                self.outbox.write(connection, scope, told_of([(after.id, Event.UPDATE)]))
            return after

        return await self._told(self._database.write(job))

    async def forget(self, reach: Reach, memory_id: str, by: By) -> Forgotten:
        """See the port."""

        def job(connection: sqlite3.Connection) -> Forgotten:
            scope = reading.scope_of(connection, reach, memory_id)
            row = None if scope is None else rows.find(connection, scope, memory_id)
            if scope is None or row is None:
                return Forgotten(0)
            scopes.raise_version(connection, scope)
            self.outbox.write(connection, scope, told_of([(row.memory.id, Event.DELETE)]))
            return forgetting.forget_row(connection, scope, row, by, now())

        return await self._told(self._database.forget(job))

    async def forget_all(
        self, reach: Reach, by: By, *, confirmed: int | None, where: Filter | None = None
    ) -> Forgotten:
        """See the port."""
        job = partial(forgetting.forget_all, reach=reach, by=by, confirmed=confirmed, where=where, tell=self.outbox)
        forgotten = await self._told(self._database.forget(lambda connection: job(connection, now=now())))
        await self._database.search(lambda _: self._cache.drop(reach))
        return forgotten

    async def history(self, reach: Reach, memory_id: str) -> list[Revision] | None:
        """See the port."""

        def job(connection: sqlite3.Connection) -> list[Revision] | None:
            memory = reading.get(connection, reach, memory_id)
            return None if memory is None else history.read(connection, reach, memory)

        return await self._database.read(job)

    async def receipts(self, reach: Reach, *, limit: int, offset: int = 0) -> list[Receipt]:
        """See the port."""
        return await self._database.read(
            lambda connection: receipts.read(connection, reach, limit=limit, offset=offset)
        )

    async def entities(self, reach: Reach) -> list[Entity]:
        """See the port."""
        return await self._database.read(lambda connection: entities(connection, reach))

    async def applications(self, reach: Reach) -> list[ApplicationSummary]:
        """See the port."""
        return await self._database.read(lambda connection: reading.applications(connection, reach))

    def _writing(self, connection: sqlite3.Connection, scope: Scope, by: By) -> writing.Writing:
        version = scopes.raise_version(connection, scope)
        return writing.Writing(connection, scope, by, now(), version, self._dimensions)
