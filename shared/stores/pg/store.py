"""`MemoryStore` on PostgreSQL: opens the transaction, takes the lock, and calls the module of each table."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from shared.candidates import Candidates
from shared.db.collection import Collection
from shared.db.pool import Database
from shared.entities import Entity
from shared.errors import ForgottenMeanwhile
from shared.filters import Filter
from shared.forgotten import Forgotten
from shared.records import (
    Add,
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
    Update,
    Vector,
)
from shared.scope import Reach, Scope
from shared.stores.barring import FORGOTTEN, unbarred
from shared.stores.outbox import told_of
from shared.stores.pg import entities as entity_counts
from shared.stores.pg import events, forgetting, history, reading, receipts, scopes, search, writing
from shared.stores.pg.outbox import PostgresOutbox
from shared.stores.pg.sought import Sought
from shared.stores.ports import Accepted
from shared.times import now


class PostgresStore:
    """The memories of people in one table of a PostgreSQL database."""

    def __init__(self, database: Database, collection: Collection) -> None:
        self._database = database
        self._collection = collection
        self.outbox = PostgresOutbox(database)

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
        async with self._database.connection(reach.person) as connection:
            return await reading.page(
                connection,
                self._collection,
                reach,
                limit=limit,
                offset=offset,
                after=after,
                where=where,
                show_expired=show_expired,
            )

    async def count(self, reach: Reach, *, where: Filter | None = None, show_expired: bool = False) -> int:
        async with self._database.connection(reach.person) as connection:
            return await reading.count(connection, self._collection, reach, where=where, show_expired=show_expired)

    async def get(self, reach: Reach, memory_id: str) -> Memory | None:
        async with self._database.connection(reach.person) as connection:
            return await reading.get(connection, self._collection, reach, memory_id)

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
        sought = Sought(vector, lexemes, limit)
        return await search.candidates(
            self._database, self._collection, reach, sought, where=where, show_expired=show_expired
        )

    async def epoch(self, scope: Scope) -> int:
        async with self._database.connection(scope.person) as connection:
            return await scopes.epoch(connection, scope)

    @asynccontextmanager
    async def _changing(self, person: str) -> AsyncIterator[scopes.Connection]:
        """A transaction; what it leaves to tell is sent when it has ended."""
        async with self._database.connection(person) as connection:
            try:
                async with connection.transaction():
                    yield connection
            finally:
                self.outbox.settle(connection)

    async def commit(
        self, scope: Scope, changes: Sequence[Change], by: By, *, accepted: Accepted | None = None
    ) -> list[Outcome]:
        async with self._changing(scope.person) as connection:
            listens = await scopes.lock(connection, scope)
            barred = frozenset[str]()
            if accepted is not None:
                if await scopes.epoch(connection, scope) != accepted.epoch:
                    raise ForgottenMeanwhile(FORGOTTEN)
                if accepted.event_id is not None:
                    barred = await events.barred(connection, scope, accepted.event_id)
            outcomes = await self._write(connection, scope, unbarred(changes, barred), by)
            if accepted is not None and accepted.event_id is not None:
                await events.end(connection, scope, accepted.event_id, outcomes, now())
            if listens:
                await self._tell(connection, scope, *((one.id, one.event) for one in outcomes))
            return outcomes

    async def _write(
        self, connection: scopes.Connection, scope: Scope, changes: Sequence[Change], by: By
    ) -> list[Outcome]:
        work = scopes.Write(connection, self._collection, scope, by, now())
        outcomes: list[Outcome | None] = []
        for run in (list(group) for _, group in itertools.groupby(changes, type)):
            if adds := [change for change in run if isinstance(change, Add)]:
                outcomes += await writing.add(work, adds)
            outcomes += [await writing.update(work, change) for change in run if isinstance(change, Update)]
            outcomes += [await writing.delete(work, change) for change in run if isinstance(change, Delete)]
        return [outcome for outcome in outcomes if outcome is not None]

    async def correct(self, reach: Reach, memory_id: str, patch: Patch, by: By) -> Memory | None:
        async with self._changing(reach.person) as connection:
            scope = await self._scope_of(connection, reach, memory_id)
            if scope is None:
                return None
            listens = await scopes.lock(connection, scope)
            work = scopes.Write(connection, self._collection, scope, by, now())
            before = await writing.locked(work, memory_id)
            after = None if before is None else await writing.rewrite(work, before, patch)
            if listens and after is not None and after is not before:
                await self._tell(connection, scope, (after.id, Event.UPDATE))
            return after

    async def forget(self, reach: Reach, memory_id: str, by: By) -> Forgotten:
        async with self._changing(reach.person) as connection:
            scope = await self._scope_of(connection, reach, memory_id)
            if scope is None:
                return Forgotten(0)
            listens = await scopes.lock(connection, scope)
            work = scopes.Write(connection, self._collection, scope, by, now())
            forgotten = await forgetting.forget_rows(work, [memory_id], "forget")
            if listens and forgotten:
                await self._tell(connection, scope, (memory_id, Event.DELETE))
            return forgotten

    async def _tell(self, connection: scopes.Connection, scope: Scope, *changed: tuple[str, Event]) -> None:
        if told := told_of(changed):
            await self.outbox.write(connection, scope, told)

    async def _scope_of(self, connection: scopes.Connection, reach: Reach, memory_id: str) -> Scope | None:
        """The scope to lock before a row of it is touched; None when it is plain that there is no such memory."""
        if isinstance(reach, Scope):
            return reach if reading.canonical(memory_id) is not None else None
        found = await reading.get(connection, self._collection, reach, memory_id)
        return None if found is None else Scope(reach.person, found.application)

    async def forget_all(
        self, reach: Reach, by: By, *, confirmed: int | None, where: Filter | None = None
    ) -> Forgotten:
        async with self._changing(reach.person) as connection:
            tell = self.outbox if await scopes.lock(connection, reach) else None
            await forgetting.check_confirmed(connection, self._collection, reach, confirmed, where)
            return await forgetting.forget_all(
                connection, self._collection, reach, by, where=where, at=now(), tell=tell
            )

    async def history(self, reach: Reach, memory_id: str) -> list[Revision] | None:
        async with self._database.connection(reach.person) as connection:
            if await reading.get(connection, self._collection, reach, memory_id) is None:
                return None
            return await history.read(connection, reach, memory_id)

    async def receipts(self, reach: Reach, *, limit: int, offset: int = 0) -> list[Receipt]:
        async with self._database.connection(reach.person) as connection:
            return await receipts.read(connection, reach, limit=limit, offset=offset)

    async def entities(self, reach: Reach) -> list[Entity]:
        """See the port."""
        async with self._database.connection(reach.person) as connection:
            return await entity_counts.entities(connection, self._collection, reach)

    async def applications(self, reach: Reach) -> list[ApplicationSummary]:
        async with self._database.connection(reach.person) as connection:
            return await reading.applications(connection, self._collection, reach)
