"""Everything of a person, read in the order of a snapshot, some entries at a time."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from shared.scope import Scope
from shared.snapshots.entries import Allowed, Entry, Kept, Kind, Typed, kind_of
from shared.stores.local import data
from shared.stores.local.rows import memory_of

_BATCH = 200


def everything(connection: sqlite3.Connection, person: str) -> Iterator[Sequence[Entry]]:
    """In a transaction that sees one moment."""
    for typed in _data(connection, person):
        yield [typed]
    yield _allowances(connection, person)
    found = _ids(connection, person)
    for start in range(0, len(found), _BATCH):
        yield _memories(connection, person, found[start : start + _BATCH])


def _data(connection: sqlite3.Connection, person: str) -> Iterator[Entry]:
    names = connection.execute(
        "SELECT agent_id, type FROM data WHERE user_id = ?"
        " UNION SELECT agent_id, type FROM data_schemas WHERE user_id = ? ORDER BY 1, 2",
        (person, person),
    ).fetchall()
    used = Counter(name for _, name in names)
    for application, name in names:
        scope = Scope(person, application)
        revisions = [
            {"revision": one.revision, "data": one.data, "actor": one.actor, "created": one.created}
            for one in data.revisions(connection, scope, name)
        ]
        yield Typed(application, name, revisions, data.schema(connection, scope, name), used[name] > 1)


def _allowances(connection: sqlite3.Connection, person: str) -> list[Entry]:
    rows = connection.execute(
        "SELECT source, reader, allowed_at FROM shares WHERE user_id = ? ORDER BY source, reader", (person,)
    )
    return [Allowed(source, reader, at) for source, reader, at in rows]


def _ids(connection: sqlite3.Connection, person: str) -> list[tuple[Kind, str]]:
    """Every memory by kind and id; ids only, so that tens of thousands are no matter."""
    rows = connection.execute(
        "SELECT id, run_id, expires_on, json_extract(payload, '$.state_unit.kind') FROM memories WHERE user_id = ?",
        (person,),
    )
    return sorted((kind_of(run_id, expires_on, told), memory_id) for memory_id, run_id, expires_on, told in rows)


def _memories(connection: sqlite3.Connection, person: str, found: Sequence[tuple[Kind, str]]) -> list[Entry]:
    ids = json.dumps([memory_id for _, memory_id in found])
    rows = connection.execute(
        "SELECT id, payload, vector FROM memories WHERE user_id = ? AND id IN (SELECT value FROM json_each(?))",
        (person, ids),
    )
    kept = {memory_id: (memory_of(memory_id, payload), vector) for memory_id, payload, vector in rows}
    history = _history(connection, person, ids)
    entries: list[Entry] = []
    for kind, memory_id in found:
        memory, vector = kept[memory_id]
        payload = {key: value for key, value in memory.payload.items() if key != "user_id"}
        changes = _with_new_words(history[memory_id], memory.words)
        entries.append(Kept(kind, memory_id, payload, vector if any(vector) else None, changes))
    return entries


def _history(connection: sqlite3.Connection, person: str, ids: str) -> dict[str, list[dict[str, Any]]]:
    rows = connection.execute(
        "SELECT memory_id, event, old_words, actor, door, at FROM history"
        " WHERE user_id = ? AND memory_id IN (SELECT value FROM json_each(?)) ORDER BY key",
        (person, ids),
    )
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for memory_id, event, old, actor, door, at in rows:
        found[memory_id].append({"event": event, "old": old, "actor": actor, "door": door, "at": at})
    return found


def _with_new_words(changes: list[dict[str, Any]], words: str) -> list[dict[str, Any]]:
    """The new words of a change are the old words of the next, or the memory's own."""
    new = [change["old"] for change in changes[1:]] + [words]
    return [{**change, "new": said} for change, said in zip(changes, new, strict=bool(changes))]
