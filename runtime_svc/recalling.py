"""Recall: find the right memories for a query in one scope."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from runtime_svc.ports import Reranker
from shared.errors import BadValue
from shared.filters import Filter
from shared.periods import named
from shared.ranking import Ranked, rank
from shared.records import Vector
from shared.scope import Reach
from shared.stores.ports import Embedder, MemoryStore
from shared.times import today
from shared.wording import check_text, says_something
from shared.words import query as words_of

LONGEST_QUERY = 8_000
_CANDIDATES = 100


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for. Raises BadValue, on making, for a query that says nothing."""

    text: str
    limit: int = 10
    threshold: float | None = None
    rerank: bool = False
    """Whether a configured reranker reads what was found once more."""
    today: date | None = None
    """The day from which `yesterday` and `last week` are told; None for the day it is."""

    def __post_init__(self) -> None:
        if not says_something(self.text):
            raise BadValue("A query says what to look for: it is empty.")
        if len(self.text) > LONGEST_QUERY:
            raise BadValue(f"A query is at most {LONGEST_QUERY} characters, not {len(self.text)}.")
        check_text(self.text, "A query")


async def vector_of(embedder: Embedder, query: Query) -> Vector:
    """The query's meaning, made once however many scopes are searched."""
    [vector] = await embedder.embed([query.text])
    return vector


async def best(
    store: MemoryStore,
    reach: Reach,
    query: Query,
    vector: Vector,
    *,
    where: Filter | None = None,
    show_expired: bool = False,
) -> list[Ranked]:
    """The best memories of the reach that meet the filter, best first."""
    sought = words_of(query.text)
    candidates = await store.candidates(
        reach,
        vector=vector,
        lexemes=sought.lexemes,
        limit=max(_CANDIDATES, query.limit),
        where=where,
        show_expired=show_expired,
    )
    period = named(query.text, query.today or date.fromisoformat(today()))
    return rank(candidates, limit=query.limit, threshold=query.threshold, groups=sought.groups, period=period)


async def reranked(reranker: Reranker | None, query: Query, found: list[Ranked]) -> list[Ranked]:
    """In the order of a reranker, where one is configured and asked for; in its own when that fails."""
    if reranker is None or not query.rerank or not found:
        return found
    scores = await reranker.scores(query.text, [one.memory.words for one in found])
    if scores is None:
        return found
    again = [
        replace(one, score=score, parts={**one.parts, "rerank": score, "before": one.score})
        for one, score in zip(found, scores, strict=True)
    ]
    return sorted(again, key=lambda one: -one.score)
