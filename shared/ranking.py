"""Which candidate answers best: pure, and the same for both engines.

Every part is mapped to 0–1 without looking at the query's other hits, and each lifts the score towards 1 by its share
of what is left: `score = 1 - (1 - a)(1 - b)…`. So a score is at least the cosine, and means the same in every query.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
    found = candidates.found
    legs = _legs(candidates, groups, period)
    best = _best(found, legs.scores, max(limit, _ALIKE_FOUND))
    lifted = {} if period is not None else _newest_of_alike(best, found, legs.scores)
    if lifted:
        best = _ordered(best, found, legs.scores | lifted)
    ranked = [legs.ranked(at, found[at].memory, lifted.get(at)) for at in best[: max(limit, 0)]]
    return [one for one in ranked if threshold is None or one.score >= threshold]


@dataclass(frozen=True, slots=True)
class _Legs:
    """What each part gives every candidate, by its place: a list a part, for only the best of them are told of."""

    scores: dict[int, float]
    semantic: Sequence[float]
    keyword: Sequence[float]
    beside: Sequence[float]
    then: Sequence[float]

    def ranked(self, at: int, memory: Memory, lifted: float | None) -> Ranked:
        score = self.scores[at] if lifted is None else lifted
        parts = {
            "semantic": self.semantic[at],
            "keyword": self.keyword[at],
            "neighbour": self.beside[at],
            "time": self.then[at],
            "newer": score - self.scores[at],
        }
        return Ranked(memory, score, parts)


def _legs(candidates: Candidates, groups: Sequence[int] | None, period: Period | None) -> _Legs:
    found = candidates.found
    keyword = _keyword_legs(candidates, groups)
    semantic = [min(one.cosine, 1.0) if one.cosine is not None and one.cosine > 0 else 0.0 for one in found]
    own = [1 - (1 - meaning) * (1 - words) for meaning, words in zip(semantic, keyword, strict=True)]
    beside = then = [0.0] * len(found)
    if any(one.neighbours for one in found):
        asks = [_asks(one.memory) for one in found]
        own = [
            score * (1 - _ASKS) if asking and one.neighbours else score
            for score, asking, one in zip(own, asks, found, strict=True)
        ]
        beside = _beside(found, own, asks)
    lifted = [min(score + lent, 1.0) for score, lent in zip(own, beside, strict=True)]
    if period is not None:
        near = [_nearness(one.memory, period) for one in found]
        then = [_THEN * nearness * (1 - score) for nearness, score in zip(near, lifted, strict=True)]
    scores = {at: round(score + added, _DIGITS) for at, (score, added) in enumerate(zip(lifted, then, strict=True))}
    return _Legs(scores, semantic, keyword, beside, then)


def bm25(terms: Sequence[int], length: int, *, frequencies: Sequence[int], size: int, mean_length: float) -> float:
    """The BM25 of one memory: how often each lexeme stands in it, its length, and in how many of the scope each is."""
    return _bm25(terms, length, [_rarity(size, known) for known in frequencies], mean_length)


def _bm25(terms: Sequence[int], length: int, rarities: Sequence[float], mean_length: float) -> float:
    stretch = _K1 * (1 - _B + _B * length / mean_length) if mean_length > 0 else _K1
    found = 0.0
    for term, rarity in zip(terms, rarities, strict=True):
        if term > 0:
            found += rarity * term * (_K1 + 1) / (term + stretch)
    return found


def _rarity(size: int, known: int) -> float:
    known = min(known, size)
    return math.log(1 + (size - known + 0.5) / (known + 0.5))


def _keyword_legs(candidates: Candidates, groups: Sequence[int] | None) -> list[float]:
    members = _members(groups if groups is not None else range(len(candidates.frequencies)))
    rarities = [_rarity(candidates.size, known) for known in _by_word(candidates.frequencies, members)]
    mean_length = candidates.mean_length
    return [
        1 - math.exp(-_bm25(_by_word(one.terms, members), one.length, rarities, mean_length) / _SATURATION)
        if any(one.terms)  # most were found by meaning alone
        else 0.0
        for one in candidates.found
    ]


def _members(groups: Sequence[int]) -> list[list[int]]:
    """For each word of the query, the places of its lexemes."""
    members: dict[int, list[int]] = {}
    for at, group in enumerate(groups):
        members.setdefault(group, []).append(at)
    return list(members.values())


def _by_word(counts: Sequence[int], members: Sequence[Sequence[int]]) -> list[int]:
    """Of counts by lexeme, the greatest of each word."""
    return [counts[places[0]] if len(places) == 1 else max([counts[at] for at in places]) for places in members]


def _beside(found: Sequence[Candidate], own: Sequence[float], asks: Sequence[bool]) -> list[float]:
    """What the neighbours that are candidates, and their neighbours, lend to each turn of a run."""
    places = {one.memory.id: at for at, one in enumerate(found)}
    nearest = [[places[key] for key in one.neighbours if key in places] for one in found]
    asked = [score * (1 + _ASKED * asking) for score, asking in zip(own, asks, strict=True)]
    lent = []
    for at, beside in enumerate(nearest):
        if not beside:
            lent.append(0.0)
            continue
        first = max([asked[place] for place in beside])
        second = 0.0
        for place in beside:
            for further in nearest[place]:
                if own[further] > second and further != at and further not in beside:
                    second = own[further]
        lent.append(min(_NEXT * first + _SECOND * second, 1.0) * (1 - own[at]))
    return lent


def _asks(memory: Memory) -> bool:
    return memory.words.rstrip().endswith(("?", "？", "؟"))


def _nearness(memory: Memory, period: Period) -> float:
    day = _day(memory)
    return 0.0 if day is None else period.nearness(day)


def _day(memory: Memory) -> date | None:
    """The day a memory was learned; None when another client wrote what is no time."""
    try:
        return None if memory.created_at is None else moment(memory.created_at).date()
    except BadValue:
        return None


def _best(found: Sequence[Candidate], scores: Mapping[int, float], count: int) -> list[int]:
    """The places of the best in their order; only what may be among them is put in order."""
    places: Sequence[int] = range(len(found))
    if 0 < count < len(found):
        least = sorted(scores.values(), reverse=True)[count - 1]
        places = [at for at in places if scores[at] >= least]
    return _ordered(places, found, scores)


def _ordered(places: Sequence[int], found: Sequence[Candidate], scores: Mapping[int, float]) -> list[int]:
    """Best first, ties newest first, then by id."""
    ordered = sorted(places, key=lambda at: found[at].memory.id)
    ordered.sort(key=lambda at: found[at].memory.created_at or "", reverse=True)
    ordered.sort(key=scores.__getitem__, reverse=True)
    return ordered


def _newest_of_alike(best: Sequence[int], found: Sequence[Candidate], scores: Mapping[int, float]) -> dict[int, float]:
    """Of memories in nearly the same words, as near to the query, a newer one answers no less than an older.

    The score that each such newer one gets. That the older is no longer true is not told: cosines and words do not tell
    "moved to" from "also been to".
    """
    best = best[:_ALIKE_FOUND]
    learned = [found[at].memory.created_at or "" for at in best]
    # An order number tells two orders apart: both have the same of the query's lexemes.
    hits = [[term > 0 for term in found[at].terms] for at in best]
    words: dict[int, frozenset[str]] = {}
    lifted: dict[int, float] = {}
    for number, at in enumerate(best):
        for earlier in range(number):
            older = best[earlier]
            if (
                learned[earlier] < learned[number]
                and scores[older] - scores[at] <= _ALIKE_APART
                and hits[earlier] == hits[number]
                and _alike(found, older, at, words)
            ):
                lifted[at] = scores[older]
                break
    return lifted


def _alike(found: Sequence[Candidate], one: int, other: int, words: dict[int, frozenset[str]]) -> bool:
    """Whether they share most lexemes; `words` keeps what was made of each."""
    for at in (one, other):
        if at not in words:
            memory = found[at].memory
            words[at] = frozenset(str(memory.payload.get("text_lemmatized") or memory.words).split())
    these, those = words[one], words[other]
    common = len(these & those)
    return common >= _ALIKE * (len(these) + len(those) - common) > 0
