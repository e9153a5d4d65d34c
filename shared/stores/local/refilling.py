"""A person's empty memory filled from a snapshot, inside the caller's transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import uuid4

from shared.records import By, Door, Event
from shared.scope import Scope
from shared.snapshots.entries import Allowed, Entry, Kept, Typed
from shared.snapshots.foreign import IMPORTED
from shared.snapshots.sealing import memory_id
from shared.stores.data import DataRevision
from shared.stores.local import data, held, history, rows, scopes
from shared.stores.states import NOT_EMBEDDED
from shared.times import moment


@dataclass(slots=True)
class Refill:
    """Writes the entries of a snapshot, and keeps the count of what it did."""

    connection: sqlite3.Connection
    dimensions: int
    person: str
    at: datetime
    state_key: int | None
    """The snapshot, when it is the person's own; None rekeys every memory."""
    forgotten: frozenset[str]
    """Ids, in the snapshot, of what was forgotten since."""
    live: dict[str, str]
    """Under which id a memory of the snapshot lives, where it is another."""
    respect_forgotten: bool
    allowances: bool
    written: set[str] = field(default_factory=set)
    came_back: list[str] = field(default_factory=list)
    left_out: int = 0
    not_embedded: int = 0
    _versions: dict[Scope, int] = field(default_factory=dict)

    def write(self, entries: Sequence[Entry]) -> None:
        """Some more entries."""
        for entry in entries:
            match entry:
                case Typed():
                    self._data(entry)
                case Allowed():
                    self._allowance(entry)
                case Kept() if self.respect_forgotten and entry.id in self.forgotten:
                    self.left_out += 1
                case Kept():
                    self._memory(entry)

    def _memory(self, entry: Kept) -> None:
        scope = Scope(self.person, str(entry.payload.get("agent_id") or IMPORTED))
        known = self._id(entry.id)
        vector, payload = self._kept(entry)
        rows.insert(self.connection, scope, known, payload, vector=vector, version=self._version(scope))
        for change in entry.history:
            self._change(scope, known, change)
        self.written.add(known)
        if entry.id in self.forgotten:
            self.came_back.append(known)

    def _change(self, scope: Scope, known: str, change: Mapping[str, Any]) -> None:
        by = By(change["actor"], Door(change["door"]))
        event, at = Event(change["event"]), moment(change["at"])
        history.write(self.connection, scope, known, event, old_words=change["old"], by=by, at=at)

    def _kept(self, entry: Kept) -> tuple[bytes, Mapping[str, Any]]:
        if entry.vector is not None and len(entry.vector) == 4 * self.dimensions:
            return entry.vector, entry.payload
        self.not_embedded += 1
        return bytes(4 * self.dimensions), {**entry.payload, "vector_of": NOT_EMBEDDED}

    def _id(self, told: str) -> str:
        """The id it gets: its own, but for one that somebody else has; and never told which those are."""
        if self.state_key is not None and not self._taken(wanted := self.live.get(told, told)):
            return wanted
        again = memory_id(self.person, told)
        again = str(uuid4()) if self._taken(again) else again
        if self.state_key is not None:
            self.connection.execute(
                "UPDATE state_memories SET live_id = ? WHERE state_key = ? AND memory_id = ?",
                (again, self.state_key, told),
            )
        return again

    def _taken(self, wanted: str) -> bool:
        return self.connection.execute("SELECT 1 FROM memories WHERE id = ?", (wanted,)).fetchone() is not None

    def _version(self, scope: Scope) -> int:
        if scope not in self._versions:
            self._versions[scope] = scopes.raise_version(self.connection, scope)
        return self._versions[scope]

    def _data(self, entry: Typed) -> None:
        scope = Scope(self.person, entry.application)
        for one in entry.revisions:
            revision = DataRevision(one["revision"], one["data"], one["actor"], one["created"])
            data.insert(self.connection, scope, entry.type, revision)
        if entry.schema is not None:
            data.insert_schema(self.connection, scope, entry.type, entry.schema)

    def _allowance(self, entry: Allowed) -> None:
        if self.allowances:
            self.connection.execute(
                "INSERT INTO shares (user_id, source, reader, allowed_at) VALUES (?, ?, ?, ?)",
                (self.person, entry.source, entry.reader, entry.allowed_at),
            )

    def finish(self) -> None:
        """What came back is no longer forgotten."""
        held.note_remembered(self.connection, self.person, self.came_back)
