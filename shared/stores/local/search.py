"""Exact search inside a reach: the best by meaning and the best by keyword, over what may be seen only."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.candidates import Candidate, Candidates
from shared.filters import Filter
from shared.records import Memory, Vector
from shared.scope import Reach, Scope
from shared.stores.local import scopes
from shared.stores.local.cache import IndexCache
from shared.stores.local.conditions import condition
from shared.stores.local.flat import Mask, Positions, Unit, unit
from shared.stores.local.index import ScopeIndex
from shared.stores.local.postings import Hits
from shared.stores.local.rows import memory_of
from shared.times import today

_K1 = 1.2
_B = 0.4


@dataclass(frozen=True, slots=True)
class _Look:
    """One scope, as a search sees it."""

    index: ScopeIndex
    seen: Mask
    hits: Sequence[Hits]
    """Where each query lexeme stands that may be seen, and how often."""

    @property
    def lengths(self) -> NDArray[np.int32]:
        return self.index.postings.lengths


@dataclass(frozen=True, slots=True)
class _Statistics:
    """Of everything that was looked at."""

    size: int
    frequencies: Sequence[int]
    mean_length: float


@dataclass(frozen=True, slots=True)
class _Query:
    vector: Unit | None
    limit: int


def candidates(
    connection: sqlite3.Connection,
    cache: IndexCache,
    reach: Reach,
    *,
    vector: Vector | None,
    lexemes: Sequence[str],
    limit: int,
    where: Filter | None,
    show_expired: bool,
) -> Candidates:
    """See `MemoryStore.candidates`."""
    query = _Query(None if vector is None else unit(vector), limit)
    looks = [
        _look(connection, cache.get(connection, scope, version), scope, lexemes, where, show_expired=show_expired)
        for scope, version in scopes.versions(connection, reach)
    ]
    statistics = _statistics(looks, len(lexemes))
    best = _nearest(looks, query) | _by_keyword(looks, statistics, limit)
    found = [
        candidate
        for number, look in enumerate(looks)
        for candidate in _found(connection, look, query, sorted(at for of, at in best if of == number))
    ]
    return Candidates(found, statistics.size, statistics.frequencies, statistics.mean_length)


def _look(
    connection: sqlite3.Connection,
    index: ScopeIndex,
    scope: Scope,
    lexemes: Sequence[str],
    where: Filter | None,
    *,
    show_expired: bool,
) -> _Look:
    only = None
    if where is not None:
        within, values = condition(scope, where, show_expired=show_expired)
        only = [row[0] for row in connection.execute(f"SELECT key FROM memories WHERE {within}", values)]  # noqa: S608 (constants and placeholders)
    seen = index.seen(today=None if show_expired else today(), only=only)
    return _Look(index, seen, [_of_seen(index.postings.hits(lexeme), seen) for lexeme in lexemes])


def _of_seen(hits: Hits, seen: Mask) -> Hits:
    positions, times = hits
    kept = seen[positions]
    return positions[kept], times[kept]


def _statistics(looks: Sequence[_Look], lexemes: int) -> _Statistics:
    size = sum(int(look.seen.sum()) for look in looks)
    length = sum(int(look.lengths[look.seen].sum()) for look in looks)
    frequencies = [sum(len(look.hits[number][0]) for look in looks) for number in range(lexemes)]
    return _Statistics(size, frequencies, length / size if size else 0.0)


Place = tuple[int, int]
"""Which look, and the position in it."""


def _nearest(looks: Sequence[_Look], query: _Query) -> set[Place]:
    if query.vector is None:
        return set()
    scored: list[tuple[float, Place]] = []
    for number, look in enumerate(looks):
        positions, cosines = look.index.vectors.nearest(query.vector, look.seen & look.index.embedded, query.limit)
        scored += zip((-cosines).tolist(), ((number, at) for at in positions.tolist()), strict=True)
    return {place for _, place in sorted(scored)[: query.limit]}


def _by_keyword(looks: Sequence[_Look], statistics: _Statistics, limit: int) -> set[Place]:
    """BM25; what has none of the lexemes is no hit."""
    if not any(statistics.frequencies):
        return set()
    scored: list[tuple[float, Place]] = []
    for number, look in enumerate(looks):
        scores = np.zeros(len(look.seen))
        for (positions, times), known in zip(look.hits, statistics.frequencies, strict=True):
            rarity = math.log1p((statistics.size - known + 0.5) / (known + 0.5))
            length = 1 - _B + _B * look.lengths[positions] / max(statistics.mean_length, 1.0)
            scores[positions] += rarity * times * (_K1 + 1) / (times + _K1 * length)
        best = _greatest(scores, limit)
        scored += zip((-scores[best]).tolist(), ((number, at) for at in best.tolist()), strict=True)
    return {place for _, place in sorted(scored)[:limit]}


def _greatest(scores: NDArray[np.float64], limit: int) -> Positions:
    """The positions of the greatest above nothing, greatest first, equal ones in order."""
    hits: Positions = np.flatnonzero(scores)
    if 0 < limit < len(hits):
        least = np.partition(scores[hits], len(hits) - limit)[len(hits) - limit]
        hits = hits[scores[hits] >= least]
    return hits[np.argsort(-scores[hits], kind="stable")[: max(limit, 0)]]


def _found(connection: sqlite3.Connection, look: _Look, query: _Query, positions: Sequence[int]) -> Sequence[Candidate]:
    if not positions:
        return ()
    at: Positions = np.array(positions, dtype=np.int64)
    cosines = [None] * len(at) if query.vector is None else look.index.cosines(query.vector, at)
    terms = np.array([_times(hits, at) for hits in look.hits], dtype=np.int64).reshape(len(look.hits), len(at))
    neighbours = [look.index.runs.neighbours(position, look.seen) for position in positions]
    memories = _memories(connection, look.index.keys[at].tolist())
    return list(map(Candidate, memories, cosines, terms.T.tolist(), look.lengths[at].tolist(), neighbours))


def _memories(connection: sqlite3.Connection, keys: Sequence[int]) -> list[Memory]:
    """The memories of these keys, in their order."""
    # One text for any number of keys, so that SQLite compiles it once.
    rows = connection.execute(
        "SELECT m.key, m.id, m.payload FROM json_each(?) AS wanted CROSS JOIN memories AS m ON m.key = wanted.value",
        (json.dumps(keys),),
    )
    found = {key: memory_of(memory_id, payload) for key, memory_id, payload in rows}
    return [found[key] for key in keys]


def _times(hits: Hits, at: Positions) -> NDArray[np.int64]:
    """How often a lexeme stands at each of these positions."""
    positions, times = hits
    if not len(positions):
        return np.zeros(len(at), dtype=np.int64)
    places = np.minimum(np.searchsorted(positions, at), len(positions) - 1)
    return np.where(positions[places] == at, times[places], 0)
