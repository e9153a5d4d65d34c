"""The search index of one scope, in memory: its vectors, its keyword statistics, and which rows may be seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from shared.stores.local.flat import Flat, Mask, Positions, Unit
from shared.stores.local.postings import Postings
from shared.stores.local.runs import Runs

_BYTES_A_ROW = 150
_NEVER = 99_99_99_99


class Entry(NamedTuple):
    """What the index takes of a row."""

    key: int
    id: str
    created_at: str
    expires_on: str | None
    run_id: str | None
    lexemes: Sequence[str]
    vector: bytes


class ScopeIndex:
    """Rows stand at positions; a changed one moves to a new position and its old one is dead. Used by one thread."""

    def __init__(self, dimensions: int) -> None:
        self.version = -1
        """The scope's version that it was built from; no scope has this one."""
        self.keys = np.empty(0, dtype=np.int64)
        self.postings = Postings()
        self.runs = Runs()
        self.embedded = np.empty(0, dtype=np.bool_)
        """Which positions have a vector at all."""
        self.vectors = Flat(dimensions)
        self._dimensions = dimensions
        self._alive = np.empty(0, dtype=np.bool_)
        self._expires = np.empty(0, dtype=np.int32)
        self._places: dict[int, int] = {}

    @property
    def bytes(self) -> int:
        """About what it takes in memory."""
        rows = len(self.keys) * (4 * self._dimensions + _BYTES_A_ROW)
        return rows + self.postings.bytes + self.runs.bytes

    @property
    def dead(self) -> int:
        """Positions that hold what is no more."""
        return len(self.keys) - len(self._places)

    def known(self) -> set[int]:
        """The keys of the rows that it holds."""
        return set(self._places)

    def remove(self, keys: Iterable[int]) -> None:
        """Rows that are gone, or will be put again."""
        for key in keys:
            if (position := self._places.pop(key, None)) is not None:
                self._alive[position] = False

    def put(self, entries: Sequence[Entry]) -> None:
        """Rows, new or changed."""
        if not entries:
            return
        self.remove(entry.key for entry in entries)
        first = len(self.keys)
        self.keys = np.concatenate([self.keys, np.array([entry.key for entry in entries], dtype=np.int64)])
        self._alive = np.concatenate([self._alive, np.ones(len(entries), dtype=np.bool_)])
        expires = [int(entry.expires_on.replace("-", "")) if entry.expires_on else _NEVER for entry in entries]
        self._expires = np.concatenate([self._expires, np.array(expires, dtype=np.int32)])
        self._places |= {entry.key: position for position, entry in enumerate(entries, first)}
        for position, entry in enumerate(entries, first):
            if entry.run_id is not None:
                self.runs.put(entry.run_id, (entry.created_at, entry.id, position))
        self.postings.extend([entry.lexemes for entry in entries])
        nothing = bytes(4 * self._dimensions)
        self.vectors.extend(b"".join(entry.vector or nothing for entry in entries))
        self.embedded = np.concatenate([self.embedded, np.array([bool(e.vector) for e in entries], dtype=np.bool_)])

    def seen(self, *, today: str | None, only: Iterable[int] | None) -> Mask:
        """The positions that a read may see: alive, not expired by `today`, and of the keys in `only`, where given."""
        mask: Mask = self._alive.copy()
        if today is not None:
            mask &= self._expires >= int(today.replace("-", ""))
        if only is not None:
            matching = np.zeros_like(mask)
            matching[[self._places[key] for key in only]] = True
            mask &= matching
        return mask

    def cosines(self, query: Unit, at: Positions) -> list[float | None]:
        """How near each position is; None for one without a vector."""
        near = self.vectors.cosines(query, at).tolist()
        return [one if known else None for one, known in zip(near, self.embedded[at].tolist(), strict=True)]
