"""FAISS, and nothing but FAISS: exact inner products over unit vectors, and the vectors of a stock client's file."""

from __future__ import annotations

from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray

from shared.records import Vector

Positions = NDArray[np.int64]
Mask = NDArray[np.bool_]
Cosines = NDArray[np.float32]
Unit = NDArray[np.float32]
"""A vector of length 1, or of nothing but zeros."""


class Flat:
    """Vectors at positions 0, 1, 2, …; used by one thread."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._index = faiss.IndexFlatIP(dimensions)

    def extend(self, vectors: bytes) -> None:
        """Vectors at the following positions, one after another as they are kept."""
        _single_thread()
        self._index.add(_units(np.frombuffer(vectors, dtype="<f4").reshape(-1, self._dimensions)))

    def nearest(self, query: Unit, seen: Mask, limit: int) -> tuple[Positions, Cosines]:
        """The best `limit` by cosine among the seen, exactly, and how near each is."""
        count = int(seen.sum())
        if not count or limit < 1:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        chosen = None
        if count < len(seen):
            bits = np.packbits(seen, bitorder="little")
            selector = faiss.IDSelectorBitmap(bits)  # type: ignore[call-arg, arg-type]  # numpy wrapper, untyped
            chosen = faiss.SearchParameters(sel=selector)  # type: ignore[call-arg]  # the same
        _single_thread()
        cosines, positions = self._index.search(query.reshape(1, -1), min(limit, count), params=chosen)
        return positions[0], cosines[0]

    def cosines(self, query: Unit, positions: Positions) -> Cosines:
        """How near each position is."""
        if not len(positions):
            return np.empty(0, dtype=np.float32)
        near: Cosines = self._index.reconstruct_batch(positions) @ query
        return near


def unit(vector: Vector) -> Unit:
    """A query's vector of length 1: made once a search."""
    made: Unit = _units(vector.reshape(1, -1))[0]
    return made


def read_vectors(path: Path) -> NDArray[np.float32] | None:
    """The vectors of a stock client's flat index, by position; None when the file is torn, or of another kind."""
    try:
        index = faiss.read_index(str(path))
        if not isinstance(index, faiss.IndexFlat):
            return None
        vectors: NDArray[np.float32] = index.reconstruct_n(0, index.ntotal)
    except (RuntimeError, MemoryError):
        return None
    return vectors


def _units(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length 1, so that an inner product is a cosine; a row of zeros is near nothing."""
    units = np.array(vectors, dtype=np.float32, order="C")
    lengths = np.linalg.norm(units, axis=1, keepdims=True)
    units /= np.where(lengths > 0, lengths, 1)
    return units


def _single_thread() -> None:
    # OpenMP keeps this for each thread that calls it, so it is said where the work is done.
    faiss.omp_set_num_threads(1)
