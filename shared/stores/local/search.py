"""Exact search inside a reach: the best by meaning and the best by keyword, over what may be seen only."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.candidates import Candidate, Candidates
from shared.filters import Filter
from shared.records import Vector
from shared.scope import Reach, Scope
from shared.stores.local import scopes
from shared.stores.local.cache import IndexCache
from shared.stores.local.conditions import condition
from shared.stores.local.flat import Mask, Positions
from shared.stores.local.index import ScopeIndex
from shared.stores.local.rows import memory_of
from shared.times import today

_K1 = 1.2
_B = 0.4


@dataclass(frozen=True, slots=True)
class _Look:
    """One scope, as a search sees it."""

    index: ScopeIndex
    seen: Mask
    counts: NDArray[np.uint32]
    """How often each query lexeme (a row) stands at each position (a column); 0 where it may not be seen."""

    @property
    def lengths(self) -> NDArray[np.int32]:
        return self.index.postings.lengths


@dataclass(frozen=True, slots=True)
class _Statistics:
    """Of everything that was looked at."""

    size: int
    frequencies: NDArray[np.int64]
    mean_length: float


@dataclass(frozen=True, slots=True)
class _Query:
    vector: Vector | None
    lexemes: Sequence[str]
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
    query = _Query(vector, lexemes, limit)
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
    return Candidates(found, statistics.size, statistics.frequencies.tolist(), statistics.mean_length)


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
    counts = [index.postings.counts(lexeme) * seen for lexeme in lexemes]
    return _Look(index, seen, np.array(counts, dtype=np.uint32).reshape(len(lexemes), len(seen)))


def _statistics(looks: Sequence[_Look], lexemes: int) -> _Statistics:
    size = sum(int(look.seen.sum()) for look in looks)
    length = sum(int(look.lengths[look.seen].sum()) for look in looks)
    frequencies = sum((np.count_nonzero(look.counts, axis=1) for look in looks), np.zeros(lexemes, dtype=np.int64))
    return _Statistics(size, np.asarray(frequencies, dtype=np.int64), length / size if size else 0.0)


Place = tuple[int, int]
"""Which look, and the position in it."""


def _nearest(looks: Sequence[_Look], query: _Query) -> set[Place]:
    if query.vector is None:
        return set()
    scored: list[tuple[float, Place]] = []
    for number, look in enumerate(looks):
        positions = look.index.vectors.nearest(query.vector, look.seen & look.index.embedded, query.limit)
        cosines = look.index.vectors.cosines(query.vector, positions)
        scored += [(-float(c), (number, int(p))) for c, p in zip(cosines, positions, strict=True)]
    return {place for _, place in sorted(scored)[: query.limit]}


def _by_keyword(looks: Sequence[_Look], statistics: _Statistics, limit: int) -> set[Place]:
    """BM25; what has none of the lexemes is no hit."""
    rarity = np.log1p((statistics.size - statistics.frequencies + 0.5) / (statistics.frequencies + 0.5))
    scored: list[tuple[float, Place]] = []
    for number, look in enumerate(looks):
        hits: Positions = np.flatnonzero(look.counts.any(axis=0))
        counts = look.counts[:, hits].astype(np.float64)
        length = 1 - _B + _B * look.lengths[hits] / max(statistics.mean_length, 1.0)
        scores = rarity @ (counts * (_K1 + 1) / (counts + _K1 * length))
        best = hits[np.argsort(-scores, kind="stable")[:limit]]
        order = dict(zip(hits.tolist(), scores.tolist(), strict=True))
        scored += [(-order[at], (number, at)) for at in best.tolist()]
    return {place for _, place in sorted(scored)[:limit]}


def _found(connection: sqlite3.Connection, look: _Look, query: _Query, positions: Sequence[int]) -> Sequence[Candidate]:
    if not positions:
        return ()
    at: Positions = np.array(positions, dtype=np.int64)
    cosines = None if query.vector is None else look.index.vectors.cosines(query.vector, at).tolist()
    keys = look.index.keys[at].tolist()
    marks = ", ".join("?" * len(keys))
    rows = {
        key: memory_of(memory_id, payload)
        for key, memory_id, payload in connection.execute(
            f"SELECT key, id, payload FROM memories WHERE key IN ({marks})",  # noqa: S608 (placeholders)
            keys,
        )
    }
    return [
        Candidate(
            memory=rows[key],
            cosine=cosines[n] if cosines is not None and look.index.embedded[position] else None,
            terms=look.counts[:, position].tolist(),
            length=int(look.lengths[position]),
            neighbours=look.index.runs.neighbours(position, look.seen),
        )
        for n, (key, position) in enumerate(zip(keys, positions, strict=True))
    ]
