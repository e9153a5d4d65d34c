"""`StateStore` on PostgreSQL: opens the transaction, takes the lock, and calls the module of each table."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

import asyncpg

from shared.db.collection import Collection
from shared.db.pool import EVERYBODY, Database
from shared.errors import BadValue, Conflict
from shared.records import By
from shared.scope import Everything
from shared.snapshots.entries import Entry
from shared.snapshots.sealing import Part, Parts
from shared.snapshots.sealing import state_id as id_of
from shared.stores.pg import restoring, scopes, state_rows
from shared.stores.pg.refilling import Refill
from shared.stores.pg.scopes import Connection
from shared.stores.pg.whole import everything
from shared.stores.states import Erased, Restored, Sealed, State
from shared.times import now


class PostgresStates:
    """The snapshots of people in one database, and their memory as a whole."""

    def __init__(self, database: Database, collection: Collection, dimensions: int) -> None:
        self._database = database
        self._collection = collection
        self._dimensions = dimensions

    async def read(self, person: Everything, take: Callable[[Sequence[Entry]], None]) -> None:
        """See the port."""
        async with (
            self._database.connection(person.person) as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            async for entries in everything(connection, self._collection, person.person):
                # Compressing and hashing a batch takes milliseconds: they are not the event loop's.
                await asyncio.to_thread(take, entries)

    async def save(self, person: Everything, *, created: str) -> State:
        """See the port."""
        parts = Parts()
        async with self._database.connection(person.person) as connection:
            await state_rows.check_room(connection, person)
            try:
                async with connection.transaction(isolation="repeatable_read"):
                    return await self._save(connection, person, parts, created)
            except asyncpg.UniqueViolationError:
                found = await state_rows.find(connection, person, id_of(person.person, parts.digest.value))
                if found is None:
                    raise
                return found

    async def _save(self, connection: Connection, person: Everything, parts: Parts, created: str) -> State:
        key = await state_rows.begin(connection, person)
        number = 0
        async for entries in everything(connection, self._collection, person.person):
            full = await asyncio.to_thread(parts.take, entries)
            number = await state_rows.add_parts(connection, person, key, number, full)
        number = await state_rows.add_parts(connection, person, key, number, parts.rest())
        sealed = Sealed(None, created, parts.digest.value, parts.digest.numbers, parts.size)
        return await state_rows.seal(connection, person, key, sealed, number)

    async def take_in(self, person: Everything, parts: AsyncIterator[Part | Sealed]) -> State:
        """See the port."""
        async with self._database.connection(EVERYBODY) as connection:
            await state_rows.sweep(connection)
        async with self._database.connection(person.person) as connection:
            await state_rows.check_room(connection, person)
            key = await state_rows.begin(connection, person)
        try:
            return await self._take_in(person, key, parts)
        finally:
            # Sealed it stays; anything else leaves nothing.
            await asyncio.shield(self._discard(person, key))

    async def _take_in(self, person: Everything, key: int, parts: AsyncIterator[Part | Sealed]) -> State:
        number = 0
        async for part in parts:
            if isinstance(part, Sealed):
                return await self._seal(person, key, part, number)
            # A transaction for each part: one that waits for a slow client would keep a connection from everybody.
            async with self._database.transaction(person.person) as connection:
                try:
                    number = await state_rows.add_parts(connection, person, key, number, [part])
                except asyncpg.UniqueViolationError as error:
                    raise BadValue("A memory stands in it twice. Nothing was taken in.") from error
        raise BadValue("It has no end. Nothing was taken in.")

    async def _seal(self, person: Everything, key: int, sealed: Sealed, parts: int) -> State:
        async with self._database.connection(person.person) as connection:
            try:
                return await state_rows.seal(connection, person, key, sealed, parts)
            except asyncpg.UniqueViolationError as error:
                known = await state_rows.find(connection, person, sealed.id or id_of(person.person, sealed.digest))
                if known is None or known.digest != sealed.digest:
                    raise Conflict("You have another snapshot by this id. Nothing was taken in.") from error
                return known

    async def _discard(self, person: Everything, key: int) -> None:
        async with self._database.connection(person.person) as connection:
            await state_rows.discard(connection, person, key)

    async def states(self, person: Everything) -> list[State]:
        """See the port."""
        async with self._database.connection(person.person) as connection:
            return await state_rows.all_of(connection, person)

    async def state(self, person: Everything, state_id: str) -> State | None:
        """See the port."""
        async with self._database.connection(person.person) as connection:
            return await state_rows.find(connection, person, state_id)

    async def part(self, person: Everything, state_id: str, number: int) -> bytes | None:
        """See the port."""
        async with self._database.connection(person.person) as connection:
            return await state_rows.part(connection, person, state_id, number)

    async def drop(self, person: Everything, state_id: str) -> bool:
        """See the port."""
        async with self._database.connection(person.person) as connection:
            return await state_rows.drop(connection, person, state_id)

    async def restore(
        self, into: Everything, owner: Everything, state_id: str, by: By, *, respect_forgotten: bool
    ) -> Restored | None:
        """See the port."""
        async with self._database.transaction(into.person) as connection:
            await scopes.lock(connection, into)
            source = await restoring.held_source(connection, owner, state_id)
            if source is None:
                return None
            refill = Refill(
                connection,
                self._collection,
                self._dimensions,
                into.person,
                now(),
                state_key=source.key if into == owner else None,
                forgotten=source.forgotten,
                live=source.live,
                respect_forgotten=respect_forgotten,
                allowances=by.actor == into.person,
            )
            return await restoring.restore(refill, source, by)

    async def erase(self, person: Everything, by: By, *, allowances: bool, snapshots: bool) -> Erased:
        """See the port."""
        async with self._database.transaction(person.person) as connection:
            await scopes.lock(connection, person)
            erasing = restoring.Erasing(connection, self._collection, person, by, now())
            return await restoring.erase(erasing, allowances=allowances, snapshots=snapshots)
