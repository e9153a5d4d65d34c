"""The content of a snapshot as it is kept: lines, in parts that are compressed each by itself, under one digest."""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID, uuid5

import orjson

from shared.snapshots.entries import Allowed, Entry, Kept, Kind, Typed, entry_of, line

_NAMESPACE = UUID("6f6f0b1e-3f0e-5d1c-9a55-3a2f6f6c0b02")
_PART = 256 * 1024
"""Bytes of a part before it is compressed, and so about what is held of a snapshot at once."""
_LEVEL = 1
"""Vectors hardly compress, and words do at any level."""

COUNTED = ("data", "allowances", "shortTerm", "session", "user")
"""The names of the counts of a snapshot, in the order of the kinds."""

MEMORY_COUNTS = COUNTED[Kind.SHORT_TERM :]


def state_id(person: str, digest: str) -> str:
    """The id of a person's snapshot with this content: the same whenever it is taken."""
    return str(uuid5(_NAMESPACE, f"{person}\n{digest}"))


def memory_id(person: str, told: str) -> str:
    """The id of a memory that cannot keep the one it came with: the same each time for the same person."""
    return str(uuid5(_NAMESPACE, f"{person}\nmemory\n{told}"))


@dataclass(slots=True)
class Digest:
    """Of the lines of a snapshot, in order; counts them too."""

    counts: Counter[str] = field(default_factory=Counter)
    _sha: hashlib._Hash = field(default_factory=hashlib.sha256)

    def add(self, entry: Entry) -> bytes:
        """Count one more line, and give it."""
        text = line(entry)
        self._sha.update(text + b"\n")
        self.counts[COUNTED[kind_number(entry)]] += 1
        return text

    @property
    def value(self) -> str:
        return self._sha.hexdigest()

    @property
    def numbers(self) -> dict[str, int]:
        """Every count, also of what there is none of."""
        return {name: self.counts[name] for name in COUNTED}


def kind_number(entry: Entry) -> Kind:
    """The kind of an entry."""
    match entry:
        case Kept(kind=kind):
            return kind
        case Typed():
            return Kind.DATA
        case Allowed():
            return Kind.ALLOWANCE


@dataclass(frozen=True, slots=True)
class Part:
    """Some lines of a snapshot, compressed, and the ids of the memories in them."""

    content: bytes
    memory_ids: Sequence[str]


@dataclass(slots=True)
class Parts:
    """Makes parts of entries, and keeps the digest and the size of all of them."""

    digest: Digest = field(default_factory=Digest)
    size: int = 0
    """Bytes, compressed."""
    made: int = 0
    _lines: list[bytes] = field(default_factory=list)
    _ids: list[str] = field(default_factory=list)
    _held: int = 0

    def take(self, entries: Sequence[Entry]) -> list[Part]:
        """The parts that are full after these entries."""
        full = []
        for entry in entries:
            text = self.digest.add(entry)
            self._lines.append(text)
            self._held += len(text)
            if isinstance(entry, Kept):
                self._ids.append(entry.id)
            if self._held >= _PART:
                full.append(self._seal())
        return full

    def rest(self) -> list[Part]:
        """The last part, when there is something in it."""
        return [self._seal()] if self._lines else []

    def _seal(self) -> Part:
        part = Part(zlib.compress(b"\n".join(self._lines), _LEVEL), self._ids)
        self.size += len(part.content)
        self.made += 1
        self._lines, self._ids, self._held = [], [], 0
        return part


def opened(content: bytes) -> Iterator[Entry]:
    """The entries of a part."""
    for text in zlib.decompress(content).split(b"\n"):
        yield entry_of(orjson.loads(text))
