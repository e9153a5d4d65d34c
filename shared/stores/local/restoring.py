"""A person's whole memory replaced by a snapshot, or erased: in the caller's transaction."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from shared.records import By
from shared.scope import Everything
from shared.snapshots.sealing import opened
from shared.stores.local import events, held, receipts, removing, scopes, state_rows
from shared.stores.local.refilling import Refill
from shared.stores.states import Erased, Restored


def restore(refill: Refill, key: int, parts: int, by: By) -> Restored:
    """Empty the person's memory and fill it again from the parts of a state."""
    connection, person = refill.connection, Everything(refill.person)
    before = removing.memories(connection, person.person)
    removing.data(connection, person.person)
    if refill.allowances:
        removing.allowances(connection, person.person)
    scopes.raise_versions(connection, person)
    for number in range(parts):
        refill.write(list(opened(state_rows.content(connection, key, number))))
    refill.finish()
    gone = [memory_id for memory_id in before if memory_id not in refill.written]
    states = held.holding(connection, person.person, gone)
    _close(connection, person, refill.at)
    receipts.write(connection, person, "restore", forgotten=len(gone), by=by, at=refill.at, states=states)
    return Restored(
        memories=len(refill.written),
        came_back=len(refill.came_back),
        left_out=refill.left_out,
        replaced=len(gone),
        not_embedded=refill.not_embedded,
    )


def erase(
    connection: sqlite3.Connection, person: Everything, by: By, at: datetime, *, allowances: bool, snapshots: bool
) -> Erased:
    """See `StateStore.erase`."""
    gone = removing.memories(connection, person.person)
    documents = removing.data(connection, person.person)
    shares = removing.allowances(connection, person.person) if allowances else 0
    dropped = state_rows.drop_all(connection, person) if snapshots else 0
    states = held.note_forgotten(connection, person.person, gone)
    scopes.raise_versions(connection, person)
    _close(connection, person, at)
    receipts.write(connection, person, "erase", forgotten=len(gone), by=by, at=at, states=states)
    return Erased(len(gone), documents, shares, dropped, len(states))


def _close(connection: sqlite3.Connection, person: Everything, at: datetime) -> None:
    events.drop_unfinished(connection, person, at)
    scopes.raise_epoch(connection, person)
