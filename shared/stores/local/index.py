"""The search index of one scope, in memory: vectors in FAISS, keyword statistics, and which rows may be seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import faiss
import numpy as np
from numpy.typing import NDArray

from shared.records import Vector
from shared.stores.local.postings import Postings
from shared.stores.local.runs import Runs

Positions = NDArray[np.int64]
Mask = NDArray[np.bool_]

_BYTES_A_ROW = 150
_NEVER = 99_99_99_99


@dataclass(frozen=True, slots=True)
class Entry:
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
        self._dimensions = dimensions
        self._vectors = faiss.IndexFlatIP(dimensions)
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
        self.postings.extend(entry.lexemes for entry in entries)
        vectors = np.frombuffer(b"".join(entry.vector for entry in entries), dtype="<f4")
        _single_thread()
        self._vectors.add(_unit(vectors.reshape(-1, self._dimensions)))

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

    def nearest(self, vector: Vector, seen: Mask, limit: int) -> Positions:
        """The best `limit` by cosine among the seen, exactly."""
        count = int(seen.sum())
        if not count or limit < 1:
            return np.empty(0, dtype=np.int64)
        chosen = None
        if count < len(seen):
            bits = np.packbits(seen, bitorder="little")
            selector = faiss.IDSelectorBitmap(bits)  # type: ignore[call-arg, arg-type]  # numpy wrapper, untyped
            chosen = faiss.SearchParameters(sel=selector)  # type: ignore[call-arg]  # the same
        _single_thread()
        _, positions = self._vectors.search(_unit(vector.reshape(1, -1)), min(limit, count), params=chosen)
        found: Positions = positions[0]
        return found

    def cosines(self, vector: Vector, positions: Positions) -> NDArray[np.float32]:
        """How near each position is."""
        if not len(positions):
            return np.empty(0, dtype=np.float32)
        near: NDArray[np.float32] = self._vectors.reconstruct_batch(positions) @ _unit(vector.reshape(1, -1))[0]
        return near


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length 1, so that an inner product is a cosine; a row of zeros is near nothing."""
    unit = np.array(vectors, dtype=np.float32, order="C")
    lengths = np.linalg.norm(unit, axis=1, keepdims=True)
    unit /= np.where(lengths > 0, lengths, 1)
    return unit


def _single_thread() -> None:
    # OpenMP keeps this for each thread that calls it, so it is said where the work is done.
    faiss.omp_set_num_threads(1)
