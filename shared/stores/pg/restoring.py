"""A person's whole memory replaced by a snapshot, or erased: in the caller's transaction, under the person's lock."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.db.collection import Collection
from shared.db.pool import seeing
from shared.records import By
from shared.scope import Everything
from shared.snapshots.entries import Entry
from shared.snapshots.sealing import opened
from shared.stores.pg import events, held, receipts, removing, scopes, state_rows
from shared.stores.pg.refilling import Refill
from shared.stores.states import Erased, Restored


@dataclass(frozen=True, slots=True)
class Source:
    """The snapshot that is restored, and whose it is."""

    owner: Everything
    key: int
    parts: int
    forgotten: frozenset[str]
    live: dict[str, str]


async def held_source(connection: scopes.Connection, owner: Everything, state_id: str) -> Source | None:
    """A snapshot, held to the end of the transaction; None when the owner has none by this id."""
    async with seeing(connection, owner.person):
        found = await state_rows.hold(connection, owner, state_id)
        if found is None:
            return None
        key, parts = found
        forgotten = await state_rows.forgotten(connection, key)
        return Source(owner, key, parts, forgotten, await state_rows.moved(connection, key))


async def restore(refill: Refill, source: Source, by: By) -> Restored:
    """Empty the person's memory and fill it again."""
    connection, person = refill.connection, Everything(refill.person)
    before = await removing.memories(connection, refill.collection, person.person)
    await removing.data(connection, person.person)
    if refill.allowances:
        await removing.allowances(connection, person.person)
    for number in range(source.parts):
        await refill.write(await _entries(refill, source, number))
    await refill.finish()
    gone = [memory_id for memory_id in before if memory_id not in refill.written]
    states = await held.holding(connection, person.person, gone)
    await _close(connection, person, by, receipts.Forgot("restore", len(gone), states), refill.at)
    return Restored(
        memories=len(refill.written),
        came_back=len(refill.came_back),
        left_out=refill.left_out,
        replaced=len(gone),
        not_embedded=refill.not_embedded,
    )


async def _entries(refill: Refill, source: Source, number: int) -> Sequence[Entry]:
    async with seeing(refill.connection, source.owner.person):
        content = await state_rows.content(refill.connection, source.key, number)
    return await asyncio.to_thread(lambda: list(opened(content)))


@dataclass(frozen=True, slots=True)
class Erasing:
    """What is erased, and by whom."""

    connection: scopes.Connection
    collection: Collection
    person: Everything
    by: By
    at: datetime


async def erase(erasing: Erasing, *, allowances: bool, snapshots: bool) -> Erased:
    """See `StateStore.erase`."""
    connection, person = erasing.connection, erasing.person
    gone = await removing.memories(connection, erasing.collection, person.person)
    documents = await removing.data(connection, person.person)
    await removing.client_records(connection, person.person)
    shares = await removing.allowances(connection, person.person) if allowances else 0
    await state_rows.drop_unfinished(connection, person)
    dropped = await state_rows.drop_all(connection, person) if snapshots else 0
    states = await held.note_forgotten(connection, person.person, gone)
    await _close(connection, person, erasing.by, receipts.Forgot("erase", len(gone), states), erasing.at)
    return Erased(len(gone), documents, shares, dropped, len(states))


async def _close(
    connection: scopes.Connection, person: Everything, by: By, forgot: receipts.Forgot, at: datetime
) -> None:
    await events.drop_unfinished(connection, person, at)
    await scopes.raise_epoch(connection, person)
    await receipts.write(connection, person, forgot, by, at)
