"""Finding by words: what the platform can do without an embedder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shared.errors import BadValue
from shared.ranking import Ranked, rank
from shared.scope import Reach
from shared.stores.ports import MemoryStore
from shared.words import query as words_of

LONGEST_QUERY = 8_000
MOST_FOUND = 1000
"""The most that one query ranks: a person who reads further says more words."""


@dataclass(frozen=True, slots=True)
class Found:
    """A slice of what was found, best first, and how many were found in all."""

    ranked: Sequence[Ranked]
    total: int


async def find_by_words(
    store: MemoryStore, reach: Reach, text: str, *, limit: int, offset: int = 0, show_expired: bool = False
) -> Found:
    """The memories that have words of `text`, best first. Raises BadValue for a text that is too long."""
    if len(text) > LONGEST_QUERY:
        raise BadValue(f"A query is at most {LONGEST_QUERY} characters, not {len(text)}.")
    sought = words_of(text)
    if not sought.lexemes:
        return Found((), 0)
    candidates = await store.candidates(
        reach, vector=None, lexemes=sought.lexemes, limit=MOST_FOUND, show_expired=show_expired
    )
    ranked = rank(candidates, limit=MOST_FOUND, groups=sought.groups)
    # A neighbour lends its score to what stands beside it; here, only what has a word itself was asked for.
    found = [one for one in ranked if one.parts["keyword"] > 0]
    return Found(found[offset : offset + limit], len(found))
