"""A person's empty memory filled from a snapshot, inside the caller's transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import uuid4

from shared.records import By, Door, Event, Memory
from shared.scope import Scope
from shared.snapshots.entries import Allowed, Entry, Kept, Typed
from shared.snapshots.sealing import memory_id
from shared.stores.data import DataRevision
from shared.stores.local import data, held, history, rows, scopes
from shared.times import moment


@dataclass(slots=True)
class Refill:
    """Writes the entries of a snapshot into a person's empty memory, and keeps the count of what it did."""

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
    written: set[str] = field(default_factory=set)
    came_back: list[str] = field(default_factory=list)
    left_out: int = 0
    not_embedded: int = 0
    _versions: dict[Scope, int] = field(default_factory=dict)

    def write(self, entries: Iterable[Entry]) -> None:
        """Some more entries. Allowances are the platform's: a local store keeps none."""
        memories = []
        for entry in entries:
            match entry:
                case Typed():
                    self._data(entry)
                case Allowed():
                    pass
                case Kept() if self.respect_forgotten and entry.id in self.forgotten:
                    self.left_out += 1
                case Kept():
                    memories.append(entry)
        if memories:
            self._memories(memories)

    def finish(self) -> None:
        """What came back is no longer forgotten."""
        if self.came_back:
            held.note_remembered(self.connection, self.person, self.came_back)

    def _memories(self, entries: Sequence[Kept]) -> None:
        ids = self._ids(entries)
        self.came_back += [ids[entry.id] for entry in entries if entry.id in self.forgotten]
        for entry in entries:
            self._memory(ids[entry.id], entry)
        self.written.update(ids.values())

    def _memory(self, live: str, entry: Kept) -> None:
        scope = Scope(self.person, str(entry.payload.get("agent_id") or ""))
        vector, payload = entry.vector, dict(entry.payload)
        if vector is None or len(vector) != 4 * self.dimensions:
            self.not_embedded += 1
            vector, payload = rows.NO_VECTOR, {**payload, "vector_of": rows.NOT_EMBEDDED}
        rows.insert(self.connection, scope, live, payload, vector=vector, version=self._version(scope))
        memory = Memory(live, payload)
        following = [one["old"] for one in entry.history[1:]] + [memory.words]
        for one, next_old in zip(entry.history, following, strict=False):
            by = By(one["actor"], Door(one["door"]))
            history.write(
                self.connection,
                scope,
                live,
                Event(one["event"]),
                old_words=one["old"],
                new_words=None if one["new"] == next_old else one["new"],
                by=by,
                at=moment(one["at"]),
            )

    def _version(self, scope: Scope) -> int:
        if scope not in self._versions:
            self._versions[scope] = scopes.raise_version(self.connection, scope)
        return self._versions[scope]

    def _ids(self, entries: Sequence[Kept]) -> dict[str, str]:
        """The id of each in the table: its own, but for one that somebody else has; and never told which those are."""
        wanted = {entry.id: self._wanted(entry.id) for entry in entries}
        taken = self._taken(list(wanted.values()))
        again = {told: memory_id(self.person, told) for told, live in wanted.items() if live in taken}
        if again:
            taken = self._taken(list(again.values())) | (set(wanted.values()) - set(again))
            again = {told: str(uuid4()) if live in taken else live for told, live in again.items()}
            self._note_live(again)
        return wanted | again

    def _wanted(self, told: str) -> str:
        return memory_id(self.person, told) if self.state_key is None else self.live.get(told, told)

    def _taken(self, ids: Sequence[str]) -> set[str]:
        found = self.connection.execute(
            "SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(ids),)
        )
        return {row[0] for row in found}

    def _note_live(self, ids: dict[str, str]) -> None:
        if self.state_key is not None:
            self.connection.executemany(
                "UPDATE state_memories SET live_id = ? WHERE state_key = ? AND memory_id = ?",
                [(live, self.state_key, told) for told, live in ids.items()],
            )

    def _data(self, entry: Typed) -> None:
        key = (self.person, entry.application, entry.type)
        for one in entry.revisions:
            revision = DataRevision(one["revision"], one["data"], one["actor"], one["created"])
            data.insert(self.connection, key, revision)
        if entry.schema is not None:
            data.insert_schema(self.connection, key, entry.schema)
