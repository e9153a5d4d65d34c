"""The order in which the memories of a run were learned, to name the ones before and after."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Place = tuple[str, str, int]
"""When it was learned, its id, and its position in the index: sorts as a run was learned."""


class Runs:
    """Grows only; positions that are no more are masked by the caller."""

    def __init__(self) -> None:
        self._runs: dict[str, list[Place]] = {}
        self._where: dict[int, tuple[str, Place]] = {}

    @property
    def bytes(self) -> int:
        """About what it takes in memory."""
        return len(self._where) * 400

    def put(self, run_id: str, place: Place) -> None:
        """A memory of a run."""
        insort(self._runs.setdefault(run_id, []), place)
        self._where[place[2]] = (run_id, place)

    def neighbours(self, position: int, seen: NDArray[np.bool_]) -> Sequence[str]:
        """Ids of the ones learned just before and after it, of those that are seen."""
        if position not in self._where:
            return ()
        run_id, place = self._where[position]
        run = self._runs[run_id]
        here = bisect_left(run, place)
        before = next((p[1] for p in reversed(run[:here]) if seen[p[2]]), None)
        after = next((p[1] for p in run[here + 1 :] if seen[p[2]]), None)
        return [near for near in (before, after) if near is not None]
