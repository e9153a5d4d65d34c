"""`MemoryStore` in a directory of this machine: opens the transaction and calls the module of each table."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from shared.entities import Entity
from shared.errors import ForgottenMeanwhile
from shared.filters import Filter
from shared.records import (
    ApplicationSummary,
    By,
    Candidates,
    Change,
    Delete,
    Memory,
    Outcome,
    Page,
    Patch,
    Receipt,
    Revision,
    Vector,
)
from shared.scope import Everything, Reach, Scope
from shared.stores.local import forgetting, history, reading, receipts, rows, scopes, search, writing
from shared.stores.local.api_keys import LocalApiKeys
from shared.stores.local.cache import IndexCache
from shared.stores.local.database import Database
from shared.stores.local.directory import Directory
from shared.stores.local.entities import entities
from shared.stores.local.opening import opened
from shared.stores.ports import Accepted
from shared.times import now

CACHE_BYTES = 256 * 1024 * 1024


class LocalStore:
    """The memories of people in one SQLite database, searched by FAISS indexes that are built from it in memory."""

    def __init__(self, directory: Directory, database: Database, *, dimensions: int, cache_bytes: int) -> None:
        self._directory = directory
        self._database = database
        self._dimensions = dimensions
        self._cache = IndexCache(dimensions, cache_bytes)
        self.api_keys = LocalApiKeys(database)

    @classmethod
    async def open(cls, directory: Path, *, dimensions: int, cache_bytes: int = CACHE_BYTES) -> Self:
        """Own a directory, made when new. Raises CannotStartError: in use, damaged, or of another embedder."""
        return cls(*await opened(directory, dimensions), dimensions=dimensions, cache_bytes=cache_bytes)

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
            if accepted is not None and scopes.epoch(connection, scope) != accepted.epoch:
                raise ForgottenMeanwhile("What it was to learn was forgotten before it was learned.")
            writing_ = self._writing(connection, scope, by)
            outcomes = [writing.change(writing_, change) for change in changes]
            return [outcome for outcome in outcomes if outcome is not None]

        forgets = any(isinstance(change, Delete) for change in changes)
        return await (self._database.forget(job) if forgets else self._database.write(job))

    async def correct(self, reach: Reach, memory_id: str, patch: Patch, by: By) -> Memory | None:
        """See the port."""

        def job(connection: sqlite3.Connection) -> Memory | None:
            scope = reading.scope_of(connection, reach, memory_id)
            before = None if scope is None else rows.find(connection, scope, memory_id)
            if scope is None or before is None:
                return None
            return writing.rewrite(self._writing(connection, scope, by), before, patch)

        return await self._database.write(job)

    async def forget(self, reach: Reach, memory_id: str, by: By) -> int:
        """See the port."""

        def job(connection: sqlite3.Connection) -> int:
            scope = reading.scope_of(connection, reach, memory_id)
            row = None if scope is None else rows.find(connection, scope, memory_id)
            if scope is None or row is None:
                return 0
            scopes.raise_version(connection, scope)
            forgetting.forget_row(connection, scope, row, by, now())
            return 1

        return await self._database.forget(job)

    async def forget_all(self, reach: Reach, by: By, *, confirmed: int | None, where: Filter | None = None) -> int:
        """See the port."""
        forgotten = await self._database.forget(
            lambda connection: forgetting.forget_all(connection, reach, by, confirmed=confirmed, where=where, now=now())
        )
        await self._database.search(lambda _: self._cache.drop(reach))
        return forgotten

    async def history(self, reach: Reach, memory_id: str) -> list[Revision] | None:
        """See the port."""

        def job(connection: sqlite3.Connection) -> list[Revision] | None:
            memory = reading.get(connection, reach, memory_id)
            return None if memory is None else history.read(connection, reach, memory)

        return await self._database.read(job)

    async def receipts(self, person: Everything, *, limit: int, offset: int = 0) -> list[Receipt]:
        """See the port."""
        return await self._database.read(
            lambda connection: receipts.read(connection, person, limit=limit, offset=offset)
        )

    async def entities(self, reach: Reach) -> list[Entity]:
        """See the port."""
        return await self._database.read(lambda connection: entities(connection, reach))

    async def applications(self, person: Everything) -> list[ApplicationSummary]:
        """See the port."""
        return await self._database.read(lambda connection: reading.applications(connection, person))

    def _writing(self, connection: sqlite3.Connection, scope: Scope, by: By) -> writing.Writing:
        version = scopes.raise_version(connection, scope)
        return writing.Writing(connection, scope, by, now(), version, self._dimensions)
