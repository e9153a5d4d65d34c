"""FAISS, and nothing but FAISS: exact inner products over unit vectors, and the vectors of a stock client's file."""

from __future__ import annotations

from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray

from shared.records import Vector

Positions = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Flat:
    """Vectors at positions 0, 1, 2, …; used by one thread."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._index = faiss.IndexFlatIP(dimensions)

    def extend(self, vectors: bytes) -> None:
        """Vectors at the following positions, one after another as they are kept."""
        _single_thread()
        self._index.add(_unit(np.frombuffer(vectors, dtype="<f4").reshape(-1, self._dimensions)))

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
        _, positions = self._index.search(_unit(vector.reshape(1, -1)), min(limit, count), params=chosen)
        found: Positions = positions[0]
        return found

    def cosines(self, vector: Vector, positions: Positions) -> NDArray[np.float32]:
        """How near each position is."""
        if not len(positions):
            return np.empty(0, dtype=np.float32)
        near: NDArray[np.float32] = self._index.reconstruct_batch(positions) @ _unit(vector.reshape(1, -1))[0]
        return near


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


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length 1, so that an inner product is a cosine; a row of zeros is near nothing."""
    unit = np.array(vectors, dtype=np.float32, order="C")
    lengths = np.linalg.norm(unit, axis=1, keepdims=True)
    unit /= np.where(lengths > 0, lengths, 1)
    return unit


def _single_thread() -> None:
    # OpenMP keeps this for each thread that calls it, so it is said where the work is done.
    faiss.omp_set_num_threads(1)
