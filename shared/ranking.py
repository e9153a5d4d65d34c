"""Which candidate answers best: pure, and the same for both engines.

Every part is mapped to 0–1 without looking at the query's other hits, and each lifts the score towards 1 by its share
of what is left: `score = 1 - (1 - a)(1 - b)…`. So a score is at least the cosine, and means the same in every query.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from shared.candidates import Candidate, Candidates
from shared.errors import BadValue
from shared.periods import Period
from shared.records import Memory
from shared.times import moment

_K1 = 1.2
_B = 0.4
_SATURATION = 8.0
"""The BM25 sum that lifts by 1 - 1/e: about one rare word, or two or three common ones."""
_NEXT = 0.4
"""What of the better neighbour's own score lifts a turn of a run."""
_SECOND = 0.3
"""The same for the turns beside those."""
_ASKS = 0.1
"""What a turn that asks loses: it seldom answers."""
_ASKED = 0.4
"""How much more it counts as a neighbour: what stands beside a question is likely the answer."""
_THEN = 0.3
"""What being learned in the period that the query names lifts."""
_ALIKE = 0.5
"""The share of common lexemes from which two memories say the same, or the same of another time."""
_ALIKE_APART = 0.15
"""The most that their scores may differ."""
_DIGITS = 6
"""Of a score: the engines compute cosines in single precision, each in its own order."""
_ALIKE_FOUND = 20
"""How many of the best are compared with each other."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A memory and how well it answers, 0–1, with what each part gave (for `explain`)."""

    memory: Memory
    score: float
    parts: Mapping[str, float]
    """`semantic` (the cosine, 0–1) and `keyword` (0–1); what `neighbour`, `time` and `newer` added to the score."""


def rank(
    candidates: Candidates,
    *,
    limit: int,
    threshold: float | None = None,
    groups: Sequence[int] | None = None,
    period: Period | None = None,
) -> list[Ranked]:
    """The best `limit`, best first; ties newest first, then by id. None below `threshold`.

    `groups` numbers the query's lexemes by the word they stand for (`shared.words.Query.groups`); without it each is a
    word of its own. `period` is what the query names (`shared.periods.named`).
    """
    own = {
        candidate.memory.id: _own(candidate, keyword)
        for candidate, keyword in zip(candidates.found, _keyword_legs(candidates, groups), strict=True)
    }
    known = {candidate.memory.id: candidate for candidate in candidates.found}
    ranked = [_lifted(candidate, own, known, period) for candidate in candidates.found]
    if period is None:
        ranked = _newest_of_alike(_sorted(ranked), known)
    return [one for one in _sorted(ranked) if threshold is None or one.score >= threshold][: max(limit, 0)]


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


def _keyword_legs(candidates: Candidates, groups: Sequence[int] | None) -> Iterator[float]:
    members = _members(groups if groups is not None else range(len(candidates.frequencies)))
    frequencies = [max(candidates.frequencies[at] for at in places) for places in members]
    for candidate in candidates.found:
        sum_of_words = bm25(
            [max(candidate.terms[at] for at in places) for places in members],
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


def _own(candidate: Candidate, keyword: float) -> Ranked:
    semantic = min(max(candidate.cosine or 0.0, 0.0), 1.0)
    score = 1 - (1 - semantic) * (1 - keyword)
    if candidate.neighbours and _asks(candidate.memory):
        score *= 1 - _ASKS
    return Ranked(candidate.memory, score, {"semantic": semantic, "keyword": keyword})


def _lifted(
    candidate: Candidate, own: Mapping[str, Ranked], known: Mapping[str, Candidate], period: Period | None
) -> Ranked:
    """A candidate with what its neighbours and its time add."""
    one = own[candidate.memory.id]
    beside = _beside(candidate, own, known) * (1 - one.score)
    score = min(one.score + beside, 1.0)
    then = _THEN * _nearness(one.memory, period) * (1 - score)
    return Ranked(
        one.memory, round(score + then, _DIGITS), {**one.parts, "neighbour": beside, "time": then, "newer": 0.0}
    )


def _beside(candidate: Candidate, own: Mapping[str, Ranked], known: Mapping[str, Candidate]) -> float:
    """What the neighbours that are candidates, and their neighbours, lend to a turn of a run."""
    nearest = [own[key] for key in candidate.neighbours if key in own]
    first = max((one.score * (1 + _ASKED * _asks(one.memory)) for one in nearest), default=0.0)
    passed = {candidate.memory.id, *candidate.neighbours}
    further = {key for one in nearest for key in known[one.memory.id].neighbours} - passed
    second = max((own[key].score for key in further if key in own), default=0.0)
    return min(_NEXT * first + _SECOND * second, 1.0)


def _asks(memory: Memory) -> bool:
    return memory.words.rstrip().endswith(("?", "？", "؟"))


def _nearness(memory: Memory, period: Period | None) -> float:
    day = _day(memory) if period is not None else None
    return 0.0 if period is None or day is None else period.nearness(day)


def _day(memory: Memory) -> date | None:
    """The day a memory was learned; None when another client wrote what is no time."""
    try:
        return None if memory.created_at is None else moment(memory.created_at).date()
    except BadValue:
        return None


def _sorted(ranked: list[Ranked]) -> list[Ranked]:
    ranked = sorted(ranked, key=lambda one: one.memory.id)
    ranked.sort(key=lambda one: one.memory.created_at or "", reverse=True)
    ranked.sort(key=lambda one: one.score, reverse=True)
    return ranked


def _newest_of_alike(ranked: list[Ranked], known: Mapping[str, Candidate]) -> list[Ranked]:
    """Of memories in nearly the same words, as near to the query, a newer one answers no less than an older.

    That the older is no longer true is not told: cosines and words do not tell "moved to" from "also been to".
    """
    best = ranked[:_ALIKE_FOUND]
    words: dict[str, frozenset[str]] = {}
    lifted = list(ranked)
    for at, one in enumerate(best):
        for older in best[:at]:
            if (
                (older.memory.created_at or "") < (one.memory.created_at or "")
                and older.score - one.score <= _ALIKE_APART
                and _same_hits(known[older.memory.id], known[one.memory.id])
                and _alike(older.memory, one.memory, words)
            ):
                lifted[at] = Ranked(one.memory, older.score, {**one.parts, "newer": older.score - one.score})
                break
    return lifted


def _alike(one: Memory, other: Memory, words: dict[str, frozenset[str]]) -> bool:
    """Whether they share most lexemes; `words` keeps what was made of each."""
    for memory in (one, other):
        if memory.id not in words:
            words[memory.id] = frozenset(str(memory.payload.get("text_lemmatized") or memory.words).split())
    these, those = words[one.id], words[other.id]
    return len(these & those) >= _ALIKE * len(these | those) > 0


def _same_hits(one: Candidate, other: Candidate) -> bool:
    """Whether both have the same of the query's lexemes: an order number tells two orders apart."""
    return [term > 0 for term in one.terms] == [term > 0 for term in other.terms]
