"""Which candidate answers best: pure, and the same for both engines.

Meaning (cosine) and words (BM25 with the scope's own statistics) weigh the same. Both legs are mapped to 0–1 without
looking at the query's other hits, so a score means the same in every query.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from shared.records import Candidates, Memory

_K1 = 1.2
_B = 0.4
_SATURATION = 10.0
"""The BM25 sum that gives 1 - 1/e of the keyword leg: about one rare word, or two or three common ones."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A memory and how well it answers, 0–1, with what each part gave (for `explain`)."""

    memory: Memory
    score: float
    parts: Mapping[str, float]
    """`semantic` (the cosine, 0–1), `keyword` (0–1), `neighbour` (what the turns beside it added)."""


def rank(
    candidates: Candidates,
    *,
    limit: int,
    threshold: float | None = None,
    groups: Sequence[int] | None = None,
    weight: float = 0.5,
    neighbour: float = 0.3,
) -> list[Ranked]:
    """The best `limit`, best first; ties newest first, then by id. None below `threshold`.

    `groups` numbers the query's lexemes by the word they stand for (`shared.words.Query.groups`); without it each is a
    word of its own. `weight` is the keyword leg's: all of it for a query without a vector, never more for one without
    lexemes, so that scores stay comparable.
    `neighbour` is the share of the better neighbour's score that a turn of a run gets towards the rest up to 1.
    """
    legs = {
        candidate.memory.id: (max(candidate.cosine or 0.0, 0.0), keyword)
        for candidate, keyword in zip(candidates.found, _keyword_legs(candidates, groups), strict=True)
    }
    weight = _weight(candidates, weight)
    own = {key: (1 - weight) * semantic + weight * keyword for key, (semantic, keyword) in legs.items()}
    ranked = []
    for candidate in candidates.found:
        memory = candidate.memory
        best = max((own.get(key, 0.0) for key in candidate.neighbours), default=0.0)
        added = neighbour * best * (1 - own[memory.id])
        score = min(max(own[memory.id] + added, 0.0), 1.0)
        semantic, keyword = legs[memory.id]
        ranked.append(Ranked(memory, score, {"semantic": semantic, "keyword": keyword, "neighbour": added}))
    kept = [one for one in ranked if threshold is None or one.score >= threshold]
    kept.sort(key=lambda one: one.memory.id)
    kept.sort(key=lambda one: one.memory.created_at or "", reverse=True)
    kept.sort(key=lambda one: round(one.score, 9), reverse=True)
    return kept[: max(limit, 0)]


def bm25(terms: Sequence[int], length: int, *, frequencies: Sequence[int], size: int, mean_length: float) -> float:
    """The BM25 of one memory: how often each lexeme stands in it, its length, and in how many of the scope each is."""
    stretch = _K1 * (1 - _B + _B * length / mean_length) if mean_length > 0 else _K1
    return sum(
        _rarity(size, known) * term * (_K1 + 1) / (term + stretch)
        for term, known in zip(terms, frequencies, strict=True)
        if term > 0
    )


def _rarity(size: int, known: int) -> float:
    known = min(known, size)
    return math.log(1 + (size - known + 0.5) / (known + 0.5))


def _weight(candidates: Candidates, weight: float) -> float:
    return 1.0 if all(candidate.cosine is None for candidate in candidates.found) else weight


def _keyword_legs(candidates: Candidates, groups: Sequence[int] | None) -> Iterator[float]:
    members = _members(groups if groups is not None else range(len(candidates.frequencies)))
    frequencies = [max(candidates.frequencies[at] for at in places) for places in members]
    for candidate in candidates.found:
        terms = [max(candidate.terms[at] for at in places) for places in members]
        sum_of_words = bm25(
            terms,
            candidate.length,
            frequencies=frequencies,
            size=candidates.size,
            mean_length=candidates.mean_length,
        )
        yield 1 - math.exp(-sum_of_words / _SATURATION)


def _members(groups: Sequence[int]) -> list[list[int]]:
    """For each word of the query, the places of its lexemes."""
    members: dict[int, list[int]] = {}
    for at, group in enumerate(groups):
        members.setdefault(group, []).append(at)
    return list(members.values())
