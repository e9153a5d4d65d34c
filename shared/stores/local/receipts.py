"""Receipts: that something was forgotten, never what."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from uuid import uuid4

from shared.records import By, Receipt
from shared.scope import Everything, Reach, Scope
from shared.times import moment, stamp


def write(connection: sqlite3.Connection, reach: Reach, verb: str, *, forgotten: int, by: By, at: datetime) -> None:
    """In the transaction of the forgetting itself."""
    application = reach.application if isinstance(reach, Scope) else None
    connection.execute(
        "INSERT INTO receipts (id, user_id, agent_id, verb, forgotten, actor, door, at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (str(uuid4()), reach.person, application, verb, forgotten, by.actor, by.door, stamp(at)),
    )


def read(connection: sqlite3.Connection, person: Everything, *, limit: int, offset: int) -> list[Receipt]:
    """Newest first."""
    rows = connection.execute(
        "SELECT id, agent_id, verb, forgotten, actor, door, at, held FROM receipts"
        " WHERE user_id = ? ORDER BY at DESC, id LIMIT ? OFFSET ?",
        (person.person, limit, offset),
    )
    return [
        Receipt(memory_id, application, verb, forgotten, actor, door, moment(at), held)
        for memory_id, application, verb, forgotten, actor, door, at, held in rows
    ]
