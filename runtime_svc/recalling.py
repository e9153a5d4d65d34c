"""Recall: find the right memories for a query in one scope."""

from __future__ import annotations

from dataclasses import dataclass

from shared.errors import BadValue
from shared.ranking import Ranked, rank
from shared.records import Vector
from shared.scope import Reach
from shared.stores.ports import Embedder, MemoryStore
from shared.wording import check_text
from shared.words import query_lexemes

LONGEST_QUERY = 8_000


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for. Raises BadValue, on making, for a query that says nothing."""

    text: str
    limit: int = 10
    threshold: float | None = None

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise BadValue("A query says what to look for: it is empty.")
        if len(self.text) > LONGEST_QUERY:
            raise BadValue(f"A query is at most {LONGEST_QUERY} characters, not {len(self.text)}.")
        check_text(self.text, "A query")


async def vector_of(embedder: Embedder, query: Query) -> Vector:
    """The query's meaning, made once however many scopes are searched."""
    [vector] = await embedder.embed([query.text])
    return vector


async def best(store: MemoryStore, reach: Reach, query: Query, vector: Vector) -> list[Ranked]:
    """The best memories of the reach, best first."""
    candidates = await store.candidates(reach, vector=vector, lexemes=query_lexemes(query.text))
    return list(rank(candidates, limit=query.limit, threshold=query.threshold))
