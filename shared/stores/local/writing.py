"""Writes to the memory table that learn and correct: each inside the caller's transaction."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime

from shared.payloads import patched
from shared.records import Add, By, Change, Delete, Event, Memory, Outcome, Patch, Update
from shared.scope import Scope
from shared.stores.local import forgetting, history, rows
from shared.times import today


@dataclass(frozen=True, slots=True)
class Writing:
    """A write that is going on: where, of whom, by whom, when, and the version that it gives the scope."""

    connection: sqlite3.Connection
    scope: Scope
    by: By
    at: datetime
    version: int
    dimensions: int


def change(writing: Writing, wanted: Change) -> Outcome | None:
    """One change of a learn; None for an id that is not in the scope, or is immutable."""
    match wanted:
        case Add():
            return _add(writing, wanted)
        case Update():
            return _update(writing, wanted)
        case Delete():
            return _delete(writing, wanted)


def _add(writing: Writing, wanted: Add) -> Outcome:
    words = str(wanted.payload.get("data") or "")
    known = _duplicate(writing, wanted)
    if known is not None:
        return Outcome(known, words, Event.NONE)
    vector = rows.blob(wanted.vector, writing.dimensions)
    rows.insert(writing.connection, writing.scope, wanted.id, wanted.payload, vector=vector, version=writing.version)
    _record(writing, wanted.id, Event.ADD, None)
    return Outcome(wanted.id, words, Event.ADD)


def _duplicate(writing: Writing, wanted: Add) -> str | None:
    """The same words in the same run, not expired."""
    run_id = wanted.payload.get("run_id")
    found = writing.connection.execute(
        "SELECT id FROM memories WHERE user_id = ? AND agent_id = ? AND hash = ? AND run_id IS ?"
        " AND (expires_on IS NULL OR expires_on >= ?) ORDER BY key LIMIT 1",
        (
            writing.scope.person,
            writing.scope.application,
            wanted.payload.get("hash"),
            None if run_id is None else str(run_id),
            today(),
        ),
    ).fetchone()
    return None if found is None else str(found[0])


def _update(writing: Writing, wanted: Update) -> Outcome | None:
    before = rows.find(writing.connection, writing.scope, wanted.id)
    if before is None or before.memory.immutable:
        return None
    patch = Patch(wanted.words, wanted.lexemes, wanted.vector, dict(wanted.metadata), correction=False)
    after = rewrite(writing, before, patch)
    event = Event.UPDATE if after.words != before.memory.words else Event.NONE
    return Outcome(after.id, after.words, event, before.memory.words)


def _delete(writing: Writing, wanted: Delete) -> Outcome | None:
    before = rows.find(writing.connection, writing.scope, wanted.id)
    if before is None or before.memory.immutable:
        return None
    forgetting.forget_row(writing.connection, writing.scope, before, writing.by, writing.at)
    return Outcome(before.memory.id, "", Event.DELETE)


def rewrite(writing: Writing, before: rows.Row, patch: Patch) -> Memory:
    """Apply a patch to a row, with its history; the same words again write nothing."""
    after = patched(before.memory.payload, patch, writing.by, now=writing.at)
    if not after.changed:
        return before.memory
    fresh = patch.vector is not None and after.words_changed
    vector = rows.blob(patch.vector, writing.dimensions) if fresh and patch.vector is not None else before.vector
    memory = Memory(before.memory.id, after.payload)
    rows.replace(writing.connection, writing.scope, before.key, rows.Row(before.key, memory, vector), writing.version)
    if after.words_changed:
        _record(writing, memory.id, Event.UPDATE, before.memory.words)
    return memory


def _record(writing: Writing, memory_id: str, event: Event, old_words: str | None) -> None:
    history.write(
        writing.connection, writing.scope, memory_id, event, old_words=old_words, by=writing.by, at=writing.at
    )
