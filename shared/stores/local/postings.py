"""The keyword statistics of one scope, in memory only: where each lexeme stands, how often, and how long texts are."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

_BYTES_A_TERM = 260
"""A dictionary entry, a short text and an array, roughly."""


class Postings:
    """Grows only; positions that are no more are masked by the caller."""

    def __init__(self) -> None:
        self._terms: dict[str, array[int]] = {}
        self._entries = 0
        self.lengths = np.empty(0, dtype=np.int32)
        """How many different lexemes each position has."""

    @property
    def bytes(self) -> int:
        """About what it takes in memory."""
        return len(self._terms) * _BYTES_A_TERM + self._entries * 8 + self.lengths.nbytes

    def extend(self, texts: Iterable[Iterable[str]]) -> None:
        """Texts at the following positions, each as its lexemes."""
        lengths = []
        for position, text in enumerate(texts, len(self.lengths)):
            counted = Counter(text)
            lengths.append(len(counted))
            for term, count in counted.items():
                self._terms.setdefault(term, array("I")).extend((position, count))
            self._entries += len(counted)
        self.lengths = np.concatenate([self.lengths, np.array(lengths, dtype=np.int32)])

    def counts(self, term: str) -> NDArray[np.uint32]:
        """How often a lexeme stands at every position."""
        counts = np.zeros(len(self.lengths), dtype=np.uint32)
        if (stored := self._terms.get(term)) is not None:
            pairs = np.frombuffer(stored, dtype=np.uint32).reshape(-1, 2)
            counts[pairs[:, 0]] = pairs[:, 1]
        return counts
