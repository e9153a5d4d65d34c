"""Which snapshots of a person hold which memories, and which of those were forgotten since: ids, never words."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

_MINE = "user_id = ? AND live_id IN (SELECT value FROM json_each(?))"


def note_forgotten(connection: sqlite3.Connection, person: str, memory_ids: Sequence[str]) -> list[str]:
    """In the transaction of the forgetting: mark what snapshots hold of it; the ids of those snapshots."""
    connection.execute(
        f"UPDATE state_memories SET forgotten = 1 WHERE {_MINE}",  # noqa: S608 (constant)
        (person, json.dumps(memory_ids)),
    )
    return holding(connection, person, memory_ids)


def holding(connection: sqlite3.Connection, person: str, memory_ids: Sequence[str]) -> list[str]:
    """The ids of the person's snapshots that hold any of these."""
    rows = connection.execute(
        "SELECT id FROM states WHERE user_id = ? AND id IS NOT NULL"  # noqa: S608 (constant)
        f" AND key IN (SELECT state_key FROM state_memories WHERE {_MINE})",
        (person, person, json.dumps(memory_ids)),
    )
    return [row[0] for row in rows]


def note_remembered(connection: sqlite3.Connection, person: str, memory_ids: Sequence[str]) -> None:
    """In the transaction of a restore: these are remembered again."""
    connection.execute(
        f"UPDATE state_memories SET forgotten = 0 WHERE {_MINE} AND forgotten",  # noqa: S608 (constant)
        (person, json.dumps(memory_ids)),
    )
