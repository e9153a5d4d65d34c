"""The history of memories: who changed what, when, through which door."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from shared.records import By, Event, Memory, Revision, revision_id
from shared.scope import Reach, Scope
from shared.stores.local.overflow import Value, padding
from shared.stores.local.scopes import within
from shared.times import moment, stamp


def write(
    connection: sqlite3.Connection,
    scope: Scope,
    memory_id: str,
    event: Event,
    *,
    old_words: str | None,
    new_words: str | None = None,
    by: By,
    at: datetime,
) -> None:
    """In the transaction of the change itself.

    `new_words` are written when they are neither the old words of the next change nor the memory's own, as in what came
    from elsewhere.
    """
    plain: list[Value] = [memory_id, scope.person, scope.application, event, by.actor, by.door, stamp(at)]
    bare = old_words is None and new_words is None
    blank, fill = (None, None) if bare else padding(plain, [old_words, new_words])
    connection.execute(
        "INSERT INTO history (memory_id, user_id, agent_id, event, actor, door, at, blank, old_words, fill,"
        " new_words) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [*plain, blank, old_words, fill, new_words],
    )


def read(connection: sqlite3.Connection, reach: Reach, memory: Memory) -> list[Revision]:
    """Oldest first. The new words of a revision are the old words of the next, or the memory's own."""
    condition, values = within(reach)
    rows = connection.execute(
        "SELECT event, old_words, new_words, user_id, agent_id, actor, door, at"  # noqa: S608 (constants and placeholders)
        f" FROM history WHERE {condition} AND memory_id = ? ORDER BY key",
        [*values, memory.id],
    ).fetchall()
    new_words = [row[1] for row in rows[1:]] + [memory.words]
    return [
        Revision(
            revision_id(memory.id, place),
            memory.id,
            Event(event),
            old,
            said or following,
            person,
            application,
            actor,
            door,
            moment(at),
        )
        for place, ((event, old, said, person, application, actor, door, at), following) in enumerate(
            zip(rows, new_words, strict=False)
        )
    ]


def erase(connection: sqlite3.Connection, person: str, memory_ids: list[str]) -> None:
    """Nothing of forgotten memories stays, old words least of all."""
    connection.executemany(
        "DELETE FROM history WHERE user_id = ? AND memory_id = ?", [(person, memory_id) for memory_id in memory_ids]
    )
