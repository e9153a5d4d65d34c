"""Writes a MemoryState as JSON, piece by piece: no more of it is held than what is being written."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from shared.graph import Graph
from shared.records import Memory
from shared.scope import Everything
from shared.snapshots.entries import Entry, Kept, Kind, Typed, record
from shared.snapshots.sealing import Digest, kind_number, opened
from shared.snapshots.units import MEMBERS, shown_time, unit_of
from shared.stores.states import State, StateStore

FORMAT = "runtime-memory/snapshot/1"
"""What an exported document says that it is."""

_PIECE = 64 * 1024


@dataclass(slots=True)
class Document:
    """One MemoryState of a person, its units in the order of a snapshot.

    `whole` is the form of an export: with each unit stands the entry that it shows, and allowances too.
    """

    person: str
    whole: bool = False
    _open: int = -1
    _first: bool = True
    _graph: Graph = field(init=False)

    def __post_init__(self) -> None:
        self._graph = Graph(self.person)

    def head(self, state_id: str, created: str, **more: Any) -> bytes:
        """The members before the units."""
        return orjson.dumps({"id": state_id, "userId": self.person, "created": shown_time(created), **more})[:-1]

    def add(self, entry: Entry) -> bytes:
        """One more unit, with the end of the array before when it begins another."""
        kind = kind_number(entry)
        unit = self._unit(entry, kind)
        if unit is None:
            return b""
        if isinstance(entry, Kept):
            self._graph.take(Memory(entry.id, entry.payload), str(unit["id"]))
        before = self._up_to(kind)
        comma = b"" if self._first else b","
        self._first = False
        return before + comma + orjson.dumps(unit)

    def end(self, **more: Any) -> bytes:
        """The arrays that are left, what the memories name together, and the members after."""
        after = {"graphNodes": self._graph.nodes, "graphRelationships": self._graph.relationships, **more}
        return self._up_to(Kind.USER) + b"]," + orjson.dumps(after)[1:]

    def _unit(self, entry: Entry, kind: Kind) -> dict[str, Any] | None:
        if not self.whole:
            return None if isinstance(entry, Typed) and not entry.revisions else unit_of(self.person, entry)
        if kind is Kind.ALLOWANCE:
            return record(entry)
        return {**(unit_of(self.person, entry) or {}), "memory": record(entry)}

    def _up_to(self, kind: Kind) -> bytes:
        opened_now = b""
        while self._open < kind:
            self._open += 1
            name = MEMBERS.get(Kind(self._open), "allowances" if self.whole else None)
            if name is not None:
                opened_now += (b"]" if self._open else b"") + b',"' + name.encode() + b'":['
                self._first = True
        return opened_now


@dataclass(slots=True)
class Current:
    """What is remembered now: taken entry by entry, kept as compressed JSON until its id is known at the end."""

    person: str
    digest: Digest = field(default_factory=Digest)
    _document: Document = field(init=False)
    _packer: Any = field(default_factory=lambda: zlib.compressobj(1))
    _packed: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        self._document = Document(self.person)

    def take(self, entries: Sequence[Entry]) -> None:
        """Some more entries."""
        for entry in entries:
            self.digest.add(entry)
            self._packed += self._packer.compress(self._document.add(entry))

    def pieces(self, state_id: str, created: str, **more: Any) -> Iterator[bytes]:
        """The whole document."""
        self._packed += self._packer.flush()
        yield self._document.head(state_id, created)
        unpacker = zlib.decompressobj()
        for start in range(0, len(self._packed), _PIECE):
            rest = bytes(self._packed[start : start + _PIECE])
            while rest:
                yield unpacker.decompress(rest, _PIECE)
                rest = unpacker.unconsumed_tail
        yield self._document.end(counts=self.digest.numbers, **more)


async def saved(
    states: StateStore, owner: Everything, state: State, *, shown_to: Everything, whole: bool = False, **more: Any
) -> AsyncIterator[bytes]:
    """A snapshot as a document, as of the person whom it is shown to."""
    document = Document(shown_to.person, whole=whole)
    extra = {"format": FORMAT, "checksum": state.digest} if whole else {}
    yield document.head(state.id, state.created, **extra)
    for number in range(state.parts):
        content = await states.part(owner, state.id, number)
        if content is None:
            raise ConnectionResetError("the snapshot was forgotten while it was read")
        yield b"".join(document.add(entry) for entry in opened(content))
    yield document.end(counts=state.counts, size=state.size, **more)
