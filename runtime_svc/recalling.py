"""Recall: find the right memories for a query, and put them into a block for an LLM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shared.context import block
from shared.ranking import Ranked, rank
from shared.words import query_lexemes

from shared.errors import BadValue
from shared.wording import check_text
from shared.scope import Reach
from shared.stores.ports import Embedder, MemoryStore

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


async def search(store: MemoryStore, embedder: Embedder, reach: Reach, query: Query) -> list[Ranked]:
    """The best memories of the reach, best first."""
    [vector] = await embedder.embed([query.text])
    candidates = await store.candidates(reach, vector=vector, lexemes=query_lexemes(query.text))
    return list(rank(candidates, limit=query.limit, threshold=query.threshold))


def context(found: Sequence[Ranked], *, timestamps: bool, max_tokens: int | None) -> str:
    """The recall block of contract 003 for what was found; empty when nothing was."""
    return block([one.memory for one in found], timestamps=timestamps, max_tokens=max_tokens)
