"""The keyword statistics of one scope, in memory only: where each lexeme stands, how often, and how long texts are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

_BYTES_A_TERM = 200
"""A dictionary entry, a short text and a number, roughly."""
_BYTES_AN_ENTRY = 12

Run = tuple[NDArray[np.int64], NDArray[np.uint32]]
"""Entries in order: the term's number above 32 bits of the position, and how often the one stands at the other."""

Hits = tuple[NDArray[np.int64], NDArray[np.uint32]]
"""The positions of a lexeme in order, and how often it stands at each."""


class Postings:
    """Grows only; positions that are no more are masked by the caller.

    Entries are kept in a few ordered runs, each at least twice as long as the next: a write adds a short one.
    """

    def __init__(self) -> None:
        self._terms: defaultdict[str, int] = defaultdict(count().__next__)
        self._runs: list[Run] = []
        self.lengths = np.empty(0, dtype=np.int32)
        """How many different lexemes each position has."""

    @property
    def bytes(self) -> int:
        """About what it takes in memory."""
        entries = sum(len(keys) for keys, _ in self._runs)
        return len(self._terms) * _BYTES_A_TERM + entries * _BYTES_AN_ENTRY + self.lengths.nbytes

    def extend(self, texts: Sequence[Sequence[str]]) -> None:
        """Texts at the following positions, each as its lexemes."""
        places = np.repeat(np.arange(len(texts)), [len(text) for text in texts]) + len(self.lengths)
        numbers = np.fromiter(map(self._terms.__getitem__, chain.from_iterable(texts)), np.int64, len(places))
        keys, times = np.unique((numbers << 32) | places, return_counts=True)
        lengths = np.bincount((keys & 0xFFFFFFFF) - len(self.lengths), minlength=len(texts))
        self.lengths = np.concatenate([self.lengths, lengths.astype(np.int32)])
        self._runs.append((keys, times.astype(np.uint32)))
        while len(self._runs) > 1 and len(self._runs[-2][0]) < 2 * len(self._runs[-1][0]):
            self._runs[-2:] = [_merged(*self._runs[-2:])]

    def hits(self, term: str) -> Hits:
        """Where a lexeme stands, and how often."""
        number = self._terms.get(term)
        if number is None:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint32)
        parts = []
        for keys, times in self._runs:
            first, end = np.searchsorted(keys, [number << 32, (number + 1) << 32])
            parts.append((keys[first:end] & 0xFFFFFFFF, times[first:end]))
        # A position stands in one run only, and those of a later run come later.
        return np.concatenate([places for places, _ in parts]), np.concatenate([times for _, times in parts])


def _merged(one: Run, other: Run) -> Run:
    keys = np.concatenate([one[0], other[0]])
    order = np.argsort(keys, kind="stable")
    return keys[order], np.concatenate([one[1], other[1]])[order]
