"""Receipts: that something was forgotten, never what."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from uuid import uuid4

from shared.records import By, Receipt
from shared.scope import Everything, Reach, Scope
from shared.times import moment, stamp


def write(
    connection: sqlite3.Connection,
    reach: Reach,
    verb: str,
    *,
    forgotten: int,
    by: By,
    at: datetime,
    states: Sequence[str] = (),
) -> None:
    """In the transaction of the forgetting itself; `states` are the snapshots that still hold something of it."""
    receipt_id = str(uuid4())
    application = reach.application if isinstance(reach, Scope) else None
    connection.execute(
        "INSERT INTO receipts (id, user_id, agent_id, verb, forgotten, actor, door, at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (receipt_id, reach.person, application, verb, forgotten, by.actor, by.door, stamp(at)),
    )
    connection.executemany(
        "INSERT INTO receipt_states (receipt_id, state_id) VALUES (?, ?)", [(receipt_id, state) for state in states]
    )


def read(connection: sqlite3.Connection, person: Everything, *, limit: int, offset: int) -> list[Receipt]:
    """Newest first."""
    rows = connection.execute(
        "SELECT id, agent_id, verb, forgotten, actor, door, at,"
        " (SELECT count(*) FROM receipt_states JOIN states s ON s.id = state_id AND s.user_id = receipts.user_id"
        " WHERE receipt_id = receipts.id) FROM receipts"
        " WHERE user_id = ? ORDER BY at DESC, id LIMIT ? OFFSET ?",
        (person.person, limit, offset),
    )
    return [
        Receipt(memory_id, application, verb, forgotten, actor, door, moment(at), held)
        for memory_id, application, verb, forgotten, actor, door, at, held in rows
    ]
