"""Forgetting: the memory and everything derived from it, in the caller's transaction; a receipt stays."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from shared.errors import GrewMeanwhile
from shared.filters import Filter
from shared.forgotten import Forgotten
from shared.records import By
from shared.scope import Reach, Scope
from shared.stores.local import events, held, history, outbox, receipts, removing, rows, scopes
from shared.stores.local.conditions import condition
from shared.stores.local.outbox import LocalOutbox
from shared.stores.local.reading import count
from shared.stores.local.rows import Row
from shared.stores.outbox import Tell


def forget_row(
    connection: sqlite3.Connection, scope: Scope, row: Row, by: By, now: datetime, *, verb: str = "forget"
) -> Forgotten:
    """One memory of a scope."""
    rows.delete(connection, row)
    history.erase(connection, scope.person, [row.memory.id])
    removing.feedback(connection, scope.person, [row.memory.id])
    events.bar(connection, scope, row.memory.words)
    states = held.note_forgotten(connection, scope.person, [row.memory.id])
    receipts.write(connection, scope, receipts.Forgot(verb, 1, states), by=by, at=now)
    return Forgotten(1, len(states))


def forget_all(
    connection: sqlite3.Connection,
    reach: Reach,
    by: By,
    *,
    confirmed: int | None,
    where: Filter | None,
    now: datetime,
    tell: LocalOutbox,
) -> Forgotten:
    """See `MemoryStore.forget_all`; nobody else writes between the count and the delete."""
    if confirmed is not None:
        total = count(connection, reach, where=where, show_expired=False)
        if total > confirmed:
            raise GrewMeanwhile(confirmed, total)
    within, values = condition(reach, where, show_expired=True)
    deleted = connection.execute(f"DELETE FROM memories WHERE {within} RETURNING id, agent_id", values).fetchall()  # noqa: S608 (constants and placeholders)
    gone = [row[0] for row in deleted]
    connection.executemany("DELETE FROM stale WHERE id = ?", [(one,) for one in gone])
    history.erase(connection, reach.person, gone)
    removing.feedback(connection, reach.person, gone)
    # Learns in flight may say again what was forgotten; with a filter it cannot be told, so all of them are dropped.
    events.drop_unfinished(connection, reach, now)
    scopes.raise_versions(connection, reach)
    scopes.raise_epoch(connection, reach)
    states = held.note_forgotten(connection, reach.person, gone)
    receipts.write(connection, reach, receipts.Forgot("forget_all", len(gone), states), by=by, at=now)
    outbox.drop(connection, reach, None if where is None else gone)
    if deleted:
        tell.write(connection, reach, [(Tell.DELETE, None)], of={row[1] for row in deleted})
    return Forgotten(len(gone), len(states))
