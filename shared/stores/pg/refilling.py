"""A person's empty memory filled from a snapshot, inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import numpy as np

from shared.db.collection import Collection
from shared.db.pool import EVERYBODY, seeing
from shared.snapshots.entries import Allowed, Entry, Kept, Typed
from shared.snapshots.sealing import memory_id
from shared.stores.pg import held
from shared.stores.pg.scopes import Connection
from shared.stores.states import NOT_EMBEDDED
from shared.times import moment


@dataclass(slots=True)
class Refill:
    """Writes the entries of a snapshot into a person's empty memory, and keeps the count of what it did."""

    connection: Connection
    collection: Collection
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

    async def write(self, entries: Sequence[Entry]) -> None:
        """Some more entries."""
        memories = []
        for entry in entries:
            match entry:
                case Typed():
                    await self._data(entry)
                case Allowed():
                    await self._allowance(entry)
                case Kept() if self.respect_forgotten and entry.id in self.forgotten:
                    self.left_out += 1
                case Kept():
                    memories.append(entry)
        if memories:
            await self._memories(memories)

    async def _memories(self, entries: Sequence[Kept]) -> None:
        ids = await self._ids(entries)
        self.came_back += [ids[entry.id] for entry in entries if entry.id in self.forgotten]
        await self.connection.executemany(
            self.collection.sql("INSERT INTO {memories} (id, vector, payload) VALUES ($1, $2, $3)"),
            [(ids[entry.id], *self._kept(entry)) for entry in entries],
        )
        await self.connection.executemany(
            "INSERT INTO runtime_memory.history"
            " (memory_id, user_id, agent_id, event, old_words, new_words, actor, door, at)"
            " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            [
                (
                    ids[entry.id],
                    self.person,
                    str(entry.payload.get("agent_id") or ""),
                    one["event"],
                    one["old"],
                    one["new"],
                    one["actor"],
                    one["door"],
                    moment(one["at"]),
                )
                for entry in entries
                for one in entry.history
            ],
        )
        self.written.update(ids.values())

    def _kept(self, entry: Kept) -> tuple[Any, dict[str, Any]]:
        payload = {**entry.payload, "user_id": self.person}
        if entry.vector is not None and len(entry.vector) == 4 * self.dimensions:
            return np.frombuffer(entry.vector, dtype="<f4"), payload
        self.not_embedded += 1
        return None, {**payload, "vector_of": NOT_EMBEDDED}

    async def _ids(self, entries: Sequence[Kept]) -> dict[str, str]:
        """The id of each in the table: its own, but for one that somebody else has; and never told which those are."""
        wanted = {entry.id: self._wanted(entry.id) for entry in entries}
        taken = await self._taken(list(wanted.values()))
        again = {told: memory_id(self.person, told) for told, live in wanted.items() if live in taken}
        if again:
            taken = await self._taken(list(again.values())) | (set(wanted.values()) - set(again))
            again = {told: str(uuid4()) if live in taken else live for told, live in again.items()}
            await self._note_live(again)
        return wanted | again

    def _wanted(self, told: str) -> str:
        return memory_id(self.person, told) if self.state_key is None else self.live.get(told, told)

    async def _taken(self, ids: Sequence[str]) -> set[str]:
        # Not the person alone: an id of the snapshot that is somebody else's by now must be seen to be taken.
        async with seeing(self.connection, EVERYBODY):
            rows = await self.connection.fetch(
                self.collection.sql("SELECT id FROM {memories} WHERE id = ANY($1::uuid[])"), ids
            )
        return {str(row["id"]) for row in rows}

    async def _note_live(self, ids: dict[str, str]) -> None:
        if self.state_key is not None:
            await self.connection.executemany(
                "UPDATE runtime_memory.state_memories SET live_id = $3 WHERE state_key = $1 AND memory_id = $2",
                [(self.state_key, UUID(told), UUID(live)) for told, live in ids.items()],
            )

    async def _data(self, entry: Typed) -> None:
        key = (self.person, entry.application, entry.type)
        await self.connection.executemany(
            "INSERT INTO runtime_memory.data (user_id, agent_id, type, revision, data, actor, created)"
            " VALUES ($1, $2, $3, $4, $5, $6, $7)",
            [(*key, one["revision"], one["data"], one["actor"], one["created"]) for one in entry.revisions],
        )
        if entry.schema is not None:
            await self.connection.execute(
                "INSERT INTO runtime_memory.data_schemas (user_id, agent_id, type, schema) VALUES ($1, $2, $3, $4)",
                *key,
                entry.schema,
            )

    async def _allowance(self, entry: Allowed) -> None:
        if self.allowances:
            await self.connection.execute(
                "INSERT INTO runtime_memory.shares (user_id, source, reader, allowed_at) VALUES ($1, $2, $3, $4)",
                self.person,
                entry.source,
                entry.reader,
                moment(entry.allowed_at),
            )

    async def finish(self) -> None:
        """What came back is no longer forgotten."""
        if self.came_back:
            await held.note_remembered(self.connection, self.person, self.came_back)
