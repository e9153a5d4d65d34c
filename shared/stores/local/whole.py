"""Everything of a person, read in the order of a snapshot, some entries at a time."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from shared.records import Memory
from shared.scope import Everything
from shared.snapshots.entries import Entry, Kept, Kind, Typed, kind_of
from shared.stores.local import data, history
from shared.stores.local.rows import memory_of
from shared.times import stamp

_BATCH = 200


def everything(connection: sqlite3.Connection, person: str) -> Iterator[Sequence[Entry]]:
    """On a connection that sees one moment. Allowances are the platform's: a local store has none."""
    for typed in _data(connection, person):
        yield [typed]
    found = _ids(connection, person)
    for start in range(0, len(found), _BATCH):
        yield _memories(connection, person, found[start : start + _BATCH])


def _data(connection: sqlite3.Connection, person: str) -> Iterator[Entry]:
    names = connection.execute(
        "SELECT agent_id, type FROM data WHERE user_id = ?1"
        " UNION SELECT agent_id, type FROM data_schemas WHERE user_id = ?1 ORDER BY 1, 2",
        (person,),
    ).fetchall()
    used = Counter(type_ for _, type_ in names)
    for application, type_ in names:
        key = [person, application, type_]
        revisions = [asdict(one) for one in data.revisions(connection, key)]
        yield Typed(application, type_, revisions, data.schema_of(connection, key), used[type_] > 1)


def _ids(connection: sqlite3.Connection, person: str) -> list[tuple[Kind, str]]:
    """Every memory by kind and id; ids only, so that tens of thousands are no matter."""
    rows = connection.execute(
        "SELECT id, run_id, expires_on, json_extract(payload, '$.state_unit.kind') FROM memories WHERE user_id = ?",
        (person,),
    )
    return sorted((kind_of(run_id, expires_on, told), memory_id) for memory_id, run_id, expires_on, told in rows)


def _memories(connection: sqlite3.Connection, person: str, found: Sequence[tuple[Kind, str]]) -> list[Entry]:
    rows = connection.execute(
        "SELECT id, payload, vector FROM memories WHERE user_id = ? AND id IN (SELECT value FROM json_each(?))",
        (person, json.dumps([memory_id for _, memory_id in found])),
    )
    kept = {memory_id: (memory_of(memory_id, payload), vector) for memory_id, payload, vector in rows}
    return [
        Kept(
            kind,
            memory_id,
            {key: value for key, value in kept[memory_id][0].payload.items() if key != "user_id"},
            kept[memory_id][1] or None,
            _changes(connection, person, kept[memory_id][0]),
        )
        for kind, memory_id in found
    ]


def _changes(connection: sqlite3.Connection, person: str, memory: Memory) -> list[dict[str, Any]]:
    return [
        {
            "event": one.event.value,
            "old": one.old_words,
            "new": one.new_words,
            "actor": one.actor,
            "door": one.door,
            "at": stamp(one.at),
        }
        for one in history.read(connection, Everything(person), memory)
    ]
