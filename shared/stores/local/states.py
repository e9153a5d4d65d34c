"""`StateStore` in a directory of this machine: opens the transaction and calls the module of each table."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from shared.errors import BadValue, Conflict
from shared.records import By
from shared.scope import Everything
from shared.snapshots.entries import Entry
from shared.snapshots.sealing import Part, Parts
from shared.snapshots.sealing import state_id as id_of
from shared.stores.local import restoring, state_rows
from shared.stores.local.database import Database
from shared.stores.local.refilling import Refill
from shared.stores.local.whole import everything
from shared.stores.states import Erased, Restored, Sealed, State
from shared.times import now


class _AlreadyThereError(Exception):
    """Ends a transaction that would keep the same snapshot twice."""

    def __init__(self, state: State) -> None:
        super().__init__()
        self.state = state


class LocalStates:
    """The snapshots of people in the directory of a local store, and their memory as a whole."""

    def __init__(
        self, database: Database, *, dimensions: int, changed: Callable[[Everything], Awaitable[None]]
    ) -> None:
        """`changed` is told of whose memory was replaced or erased, so that nothing of it stays in search indexes."""
        self._database = database
        self._dimensions = dimensions
        self._changed = changed

    async def read(self, person: Everything, take: Callable[[Sequence[Entry]], None]) -> None:
        """See the port."""

        def job(connection: sqlite3.Connection) -> None:
            for entries in everything(connection, person.person):
                take(entries)

        await self._database.read(job)

    async def save(self, person: Everything, *, created: str) -> State:
        """See the port."""

        def job(connection: sqlite3.Connection) -> State:
            state_rows.check_room(connection, person)
            parts, number = Parts(), 0
            key = state_rows.begin(connection, person)
            for entries in everything(connection, person.person):
                number = state_rows.add_parts(connection, person, key, number, parts.take(entries))
            number = state_rows.add_parts(connection, person, key, number, parts.rest())
            digest = parts.digest
            known = state_rows.find(connection, person, id_of(person.person, digest.value))
            if known is not None:
                raise _AlreadyThereError(known)
            sealed = Sealed(None, created, digest.value, digest.numbers, parts.size)
            return state_rows.seal(connection, person, key, sealed, number)

        try:
            return await self._database.write(job)
        except _AlreadyThereError as error:
            return error.state

    async def take_in(self, person: Everything, parts: AsyncIterator[Part | Sealed]) -> State:
        """See the port."""

        def begin(connection: sqlite3.Connection) -> int:
            state_rows.check_room(connection, person)
            state_rows.sweep(connection)
            return state_rows.begin(connection, person)

        key = await self._database.write(begin)
        try:
            return await self._take_in(person, key, parts)
        finally:
            # Sealed it stays; anything else leaves nothing.
            await asyncio.shield(self._database.forget(lambda connection: state_rows.discard(connection, key)))

    async def _take_in(self, person: Everything, key: int, parts: AsyncIterator[Part | Sealed]) -> State:
        number = 0
        async for part in parts:
            if isinstance(part, Sealed):
                return await self._seal(person, key, part, number)
            number = await self._add(person, key, number, part)
        raise BadValue("It has no end. Nothing was taken in.")

    async def _add(self, person: Everything, key: int, number: int, part: Part) -> int:
        def job(connection: sqlite3.Connection) -> int:
            try:
                return state_rows.add_parts(connection, person, key, number, [part])
            except sqlite3.IntegrityError as error:
                raise BadValue("A memory stands in it twice. Nothing was taken in.") from error

        return await self._database.write(job)

    async def _seal(self, person: Everything, key: int, sealed: Sealed, parts: int) -> State:
        def job(connection: sqlite3.Connection) -> State:
            known = state_rows.find(connection, person, sealed.id or id_of(person.person, sealed.digest))
            if known is None:
                return state_rows.seal(connection, person, key, sealed, parts)
            if known.digest != sealed.digest:
                raise Conflict("You have another snapshot by this id. Nothing was taken in.")
            return known

        return await self._database.write(job)

    async def states(self, person: Everything) -> list[State]:
        """See the port."""
        return await self._database.read(lambda connection: state_rows.all_of(connection, person))

    async def state(self, person: Everything, state_id: str) -> State | None:
        """See the port."""
        return await self._database.read(lambda connection: state_rows.find(connection, person, state_id))

    async def part(self, person: Everything, state_id: str, number: int) -> bytes | None:
        """See the port."""
        return await self._database.read(lambda connection: state_rows.part(connection, person, state_id, number))

    async def drop(self, person: Everything, state_id: str) -> bool:
        """See the port."""
        return await self._database.forget(lambda connection: state_rows.drop(connection, person, state_id))

    async def restore(
        self, into: Everything, owner: Everything, state_id: str, by: By, *, respect_forgotten: bool
    ) -> Restored | None:
        """See the port."""

        def job(connection: sqlite3.Connection) -> Restored | None:
            found = state_rows.hold(connection, owner, state_id)
            if found is None:
                return None
            key, parts = found
            refill = Refill(
                connection,
                self._dimensions,
                into.person,
                now(),
                state_key=key if into == owner else None,
                forgotten=state_rows.forgotten(connection, key),
                live=state_rows.moved(connection, key),
                respect_forgotten=respect_forgotten,
                allowances=by.actor == into.person,
            )
            return restoring.restore(refill, key, parts, by)

        done = await self._database.forget(job)
        await self._changed(into)
        return done

    async def erase(self, person: Everything, by: By, *, allowances: bool, snapshots: bool) -> Erased:
        """See the port."""
        erased = await self._database.forget(
            lambda connection: restoring.erase(
                connection, person, by, now(), allowances=allowances, snapshots=snapshots
            )
        )
        await self._changed(person)
        return erased
