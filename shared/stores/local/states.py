"""`StateStore` in the local store: each write is one transaction of the one writer."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime

from shared.errors import BadValue
from shared.records import By
from shared.scope import Everything
from shared.snapshots.entries import Entry
from shared.snapshots.sealing import Part, Parts, opened
from shared.stores.local import events, held, receipts, removing, scopes, state_rows
from shared.stores.local.cache import IndexCache
from shared.stores.local.database import Database
from shared.stores.local.refilling import Refill
from shared.stores.local.whole import everything
from shared.stores.states import Erased, Restored, Sealed, State
from shared.times import now

_LONGEST_READ = 300.0
"""Seconds to read all of a person."""


class LocalStates:
    """The snapshots of people in one directory, and their memory as a whole."""

    def __init__(self, database: Database, cache: IndexCache, dimensions: int) -> None:
        self._database = database
        self._cache = cache
        self._dimensions = dimensions

    async def read(self, person: Everything, take: Callable[[Sequence[Entry]], None]) -> None:
        """See the port."""

        def job(connection: sqlite3.Connection) -> None:
            for entries in everything(connection, person.person):
                take(entries)

        await self._database.read(job, longest=_LONGEST_READ)

    async def save(self, person: Everything, *, created: str) -> State:
        """See the port."""

        def job(connection: sqlite3.Connection) -> State:
            state_rows.check_room(connection, person)
            parts, number = Parts(), 0
            key = state_rows.begin(connection, person)
            for entries in everything(connection, person.person):
                number = state_rows.add_parts(connection, person, key, number, parts.take(entries))
            number = state_rows.add_parts(connection, person, key, number, parts.rest())
            sealed = Sealed(None, created, parts.digest.value, parts.digest.numbers, parts.size)
            return state_rows.seal(connection, person, key, sealed, number)

        return await self._database.write(job)

    async def take_in(self, person: Everything, parts: AsyncIterator[Part | Sealed]) -> State:
        """See the port."""

        def begin(connection: sqlite3.Connection) -> int:
            state_rows.check_room(connection, person)
            state_rows.sweep(connection)
            return state_rows.begin(connection, person)

        key = await self._database.erase(begin)
        try:
            return await self._take_in(person, key, parts)
        finally:
            # Sealed it stays; anything else leaves nothing.
            await asyncio.shield(self._database.erase(lambda connection: state_rows.discard(connection, key)))

    async def _take_in(self, person: Everything, key: int, parts: AsyncIterator[Part | Sealed]) -> State:
        number = 0
        async for part in parts:
            if isinstance(part, Sealed):
                return await self._seal(person, key, part, number)
            number = await self._add(person, key, number, part)
        raise BadValue("It has no end. Nothing was taken in.")

    async def _seal(self, person: Everything, key: int, sealed: Sealed, parts: int) -> State:
        return await self._database.write(lambda connection: state_rows.seal(connection, person, key, sealed, parts))

    async def _add(self, person: Everything, key: int, number: int, part: Part) -> int:
        return await self._database.write(
            lambda connection: state_rows.add_parts(connection, person, key, number, [part])
        )

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
            )
            return _restore(refill, key, parts, by)

        restored = await self._database.forget(job)
        await self._database.search(lambda _: self._cache.drop(into))
        return restored

    async def erase(self, person: Everything, by: By, *, allowances: bool, snapshots: bool) -> Erased:  # noqa: ARG002 (the platform's, of which a local store has none)
        """See the port."""

        def job(connection: sqlite3.Connection) -> Erased:
            gone = removing.memories(connection, person.person)
            documents = removing.data(connection, person.person)
            removing.client_records(connection, person.person)
            state_rows.drop_unfinished(connection, person)
            dropped = state_rows.drop_all(connection, person) if snapshots else 0
            states = held.note_forgotten(connection, person.person, gone)
            _close(connection, person, by, receipts.Forgot("erase", len(gone), states), at=now())
            return Erased(len(gone), documents, 0, dropped, len(states))

        erased = await self._database.forget(job)
        await self._database.search(lambda _: self._cache.drop(person))
        return erased


def _restore(refill: Refill, key: int, parts: int, by: By) -> Restored:
    connection, person = refill.connection, Everything(refill.person)
    before = removing.memories(connection, person.person)
    removing.data(connection, person.person)
    for number in range(parts):
        refill.write(opened(state_rows.content(connection, key, number)))
    refill.finish()
    gone = [memory_id for memory_id in before if memory_id not in refill.written]
    states = held.holding(connection, person.person, gone)
    _close(connection, person, by, receipts.Forgot("restore", len(gone), states), at=refill.at)
    return Restored(
        memories=len(refill.written),
        came_back=len(refill.came_back),
        left_out=refill.left_out,
        replaced=len(gone),
        not_embedded=refill.not_embedded,
    )


def _close(
    connection: sqlite3.Connection, person: Everything, by: By, forgot: receipts.Forgot, *, at: datetime
) -> None:
    events.drop_unfinished(connection, person, at)
    scopes.raise_versions(connection, person)
    scopes.raise_epoch(connection, person)
    receipts.write(connection, person, forgot, by=by, at=at)
