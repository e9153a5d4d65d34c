"""Receipts: that something was forgotten, never what."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from shared.records import By, Receipt
from shared.scope import Reach, Scope
from shared.stores.local.scopes import within
from shared.times import moment, stamp


@dataclass(frozen=True, slots=True)
class Forgot:
    """What a receipt says: by which verb, how many, and which snapshots still hold something of it."""

    verb: str
    count: int
    states: Sequence[str] = ()


def write(connection: sqlite3.Connection, reach: Reach, forgot: Forgot, *, by: By, at: datetime) -> None:
    """In the transaction of the forgetting itself."""
    states = json.dumps(list(forgot.states))
    application = reach.application if isinstance(reach, Scope) else None
    connection.execute(
        "INSERT INTO receipts (id, user_id, agent_id, verb, forgotten, actor, door, at, states)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (str(uuid4()), reach.person, application, forgot.verb, forgot.count, by.actor, by.door, stamp(at), states),
    )


def read(connection: sqlite3.Connection, reach: Reach, *, limit: int, offset: int) -> list[Receipt]:
    """Newest first."""
    condition, values = within(reach)
    rows = connection.execute(
        "SELECT id, agent_id, verb, forgotten, actor, door, at, (SELECT count(*) FROM states"  # noqa: S608 (constants)
        " WHERE states.user_id = receipts.user_id AND states.id IN (SELECT value FROM json_each(receipts.states)))"
        f" FROM receipts WHERE {condition} ORDER BY at DESC, id LIMIT ? OFFSET ?",
        [*values, limit, offset],
    )
    return [
        Receipt(memory_id, application, verb, forgotten, actor, door, moment(at), held)
        for memory_id, application, verb, forgotten, actor, door, at, held in rows
    ]
