"""Finding by words: what the platform can do without an embedder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from shared.errors import BadValue
from shared.ranking import Ranked, rank
from shared.records import Memory
from shared.scope import Reach
from shared.stores.ports import MemoryStore
from shared.words import query as words_of

LONGEST_QUERY = 8_000
MOST_FOUND = 1000
"""The most that one query ranks: a person who reads further says more words."""

_LOOKED_THROUGH = 300
"""The newest memories in which the beginnings of words are looked for."""
_READ = 2_000
"""Code points of a memory that are looked at for that."""
_MOST_WORDS = 32
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Found:
    """A slice of what was found, best first, and how many were found in all."""

    ranked: Sequence[Ranked]
    total: int


async def find_by_words(
    store: MemoryStore, reach: Reach, text: str, *, limit: int, offset: int = 0, show_expired: bool = False
) -> Found:
    """The memories that have words of `text`, best first; then recent ones with words that begin so, newest first.

    So a person finds while still typing. Raises BadValue for a text that is too long.
    """
    if len(text) > LONGEST_QUERY:
        raise BadValue(f"A query is at most {LONGEST_QUERY} characters, not {len(text)}.")
    found = await _by_words(store, reach, text, show_expired=show_expired)
    known = {one.memory.id for one in found}
    newest = await store.page(reach, limit=_LOOKED_THROUGH, show_expired=show_expired)
    begun = _beginnings(text)
    more = [memory for memory in newest.memories if memory.id not in known and _begins(memory, begun)]
    found += [Ranked(memory, 0.0, {"semantic": 0.0, "keyword": 0.0}) for memory in more]
    return Found(found[offset : offset + limit], len(found))


async def _by_words(store: MemoryStore, reach: Reach, text: str, *, show_expired: bool) -> list[Ranked]:
    sought = words_of(text)
    if not sought.lexemes:
        return []
    candidates = await store.candidates(
        reach, vector=None, lexemes=sought.lexemes, limit=MOST_FOUND, show_expired=show_expired
    )
    ranked = rank(candidates, limit=MOST_FOUND, groups=sought.groups)
    # A neighbour lends its score to what stands beside it; here, only what has a word itself was asked for.
    return [one for one in ranked if one.parts["keyword"] > 0]


def _beginnings(text: str) -> list[str]:
    """What is typed, word by word: each may be the beginning of a longer one."""
    return _WORD.findall(text.casefold())[:_MOST_WORDS]


def _begins(memory: Memory, beginnings: Sequence[str]) -> bool:
    """Whether every beginning begins a word of the memory."""
    if not beginnings:
        return False
    words = " ".join(_WORD.findall(memory.words[:_READ].casefold()))
    return all(f" {one}" in f" {words}" for one in beginnings)
