"""Takes a document in: an export of ours, held to its checksum, or a MemoryState of contract 002. All or nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from shared.errors import BadValue, Unreadable
from shared.snapshots import foreign
from shared.snapshots.checking import checked
from shared.snapshots.document import FORMAT
from shared.snapshots.entries import Entry, Kind, Typed
from shared.snapshots.members import LONG, Member, Members
from shared.snapshots.sealing import Part, Parts, kind_number
from shared.snapshots.units import MEMBERS, unit_of
from shared.stores.states import Sealed
from shared.times import moment

NOT_A_STATE = "That is no snapshot: it lacks {name}. Nothing was taken in."
CHANGED = "This export was changed or cut short since it was written. Nothing was taken in."
FOREIGN = "That is a document of another program, or of a newer version. Nothing was taken in."
REARRANGED = "Its units stand in another order than in a snapshot. Nothing was taken in."

_KINDS = {name: kind for kind, name in MEMBERS.items()} | {"allowances": Kind.ALLOWANCE}
_GRAPH = ("graphNodes", "graphRelationships")
_SAID = ("id", "userId", "created", "format", "checksum")
_MOST_TYPED = 10_000
_BATCH = 50
_BATCH_LENGTH = 256 * 1024
"""Characters of a batch: what is held of a document at once, beside one element."""


@dataclass(slots=True)
class Importing:
    """One document, as it arrives."""

    person: str
    graph_left_out: int = 0
    """Nodes and relationships that it had, and that are not kept; those of an export are what its memories say."""
    _said: dict[str, Any] = field(default_factory=dict)
    _arrays: set[str] = field(default_factory=set)
    _parts: Parts = field(default_factory=Parts)
    _typed: set[tuple[str, str]] = field(default_factory=set)
    _last: Kind = Kind.DATA

    async def parts(self, source: AsyncIterator[bytes]) -> AsyncGenerator[Part | Sealed]:
        """The document's content, sealed at its end. Raises Unreadable or BadValue, each with a sentence."""
        batch: list[Entry] = []
        held = 0
        async with aclosing(Members(source).read()) as members:
            async for member in members:
                # To look at each value of a long one takes seconds: they are not the event loop's.
                entries = (
                    await asyncio.to_thread(self._entries, member) if member.size > LONG else self._entries(member)
                )
                batch, held = batch + entries, held + member.size
                del member, entries
                if len(batch) >= _BATCH or held > _BATCH_LENGTH:
                    full, batch, held = await self._taken(batch), [], 0
                    for part in full:
                        yield part
        for part in await self._taken(batch):
            yield part
        sealed = self._sealed()
        for part in self._parts.rest():
            yield part
        yield Sealed(sealed.id, sealed.created, sealed.digest, sealed.counts, self._parts.size)

    async def _taken(self, batch: list[Entry]) -> list[Part]:
        """Compressing takes milliseconds: they are not the event loop's."""
        return await asyncio.to_thread(self._parts.take, batch)

    def _entries(self, member: Member) -> list[Entry]:
        if member.shape == "value":
            self._said |= {member.name: member.value} if member.name in _SAID else {}
        elif member.shape == "list":
            self._arrays.add(member.name)
        elif member.name in _KINDS:
            return [self._entry(_KINDS[member.name], member.value)]
        elif member.name in _GRAPH and not self._is_export():
            self.graph_left_out += 1
        return []

    def _entry(self, kind: Kind, value: Any) -> Entry:
        if not isinstance(value, dict):
            raise BadValue("A unit of it is no object. Nothing was taken in.")
        if kind < self._last:
            raise BadValue(REARRANGED)
        self._last = kind
        entry = self._ours(kind, value) if self._is_export() else self._foreign(kind, value)
        if isinstance(entry, Typed):
            self._once(entry)
        return entry

    def _is_export(self) -> bool:
        told = self._said.get("format")
        if told is not None and told != FORMAT:
            raise BadValue(FOREIGN)
        return told is not None

    def _ours(self, kind: Kind, value: dict[str, Any]) -> Entry:
        """What is shown beside an entry says the same as the entry, but for whose it is."""
        try:
            entry = checked(value if kind is Kind.ALLOWANCE else value.pop("memory"))
        except (ValueError, TypeError, KeyError, AttributeError, BadValue) as error:
            raise BadValue(CHANGED) from error
        shown = unit_of(str(self._said.get("userId")), entry)
        if kind_number(entry) is not kind or (shown is not None and shown | {"userId": 0} != value | {"userId": 0}):
            raise BadValue(CHANGED)
        return entry

    def _foreign(self, kind: Kind, value: dict[str, Any]) -> Entry:
        if kind is Kind.ALLOWANCE:
            raise BadValue("An allowance is taken in with an export only. Nothing was taken in.")
        if kind is Kind.DATA:
            return foreign.data_unit(self.person, value)
        return foreign.memory_unit(self.person, kind, value)

    def _once(self, entry: Typed) -> None:
        key = (entry.application, entry.type)
        if key in self._typed or len(self._typed) >= _MOST_TYPED:
            raise BadValue("A type of data stands in it twice, or there are too many. Nothing was taken in.")
        self._typed.add(key)

    def _sealed(self) -> Sealed:
        for name in ("id", "userId", "created"):
            if not isinstance(self._said.get(name), str):
                raise BadValue(NOT_A_STATE.format(name=name))
        for name in MEMBERS.values():
            if name not in self._arrays:
                raise BadValue(NOT_A_STATE.format(name=name))
        digest = self._parts.digest
        if self._is_export() and self._said.get("checksum") != digest.value:
            raise BadValue(CHANGED)
        return Sealed(_id(self._said["id"]), _created(self._said["created"]), digest.value, digest.numbers, 0)


def _id(told: str) -> str:
    try:
        return str(UUID(told)) if len(told) == 36 else _no_id()
    except ValueError:
        return _no_id()


def _no_id() -> str:
    raise BadValue("A snapshot's id is a UUID. Nothing was taken in.")


def _created(told: str) -> str:
    moment(told)
    if len(told) > 40:
        raise Unreadable("A time in it is too long. Nothing was taken in.")
    return told
