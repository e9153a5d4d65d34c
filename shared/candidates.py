"""What a search finds before it is ranked: the memories that may answer, and what ranking needs to know of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shared.records import Memory


class Candidate(NamedTuple):
    """A memory that may answer a query, with what ranking needs to know of it. Hundreds are made for every query."""

    memory: Memory
    cosine: float | None
    """None when the query had no vector."""
    terms: Sequence[int]
    """How often each query lexeme stands in it, in the query's order."""
    length: int
    """How many lexemes it has."""
    neighbours: Sequence[str] = ()
    """Ids of the memories learned just before and after it in the same run."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The union of the best by cosine and the best by keyword, with the scope's own statistics."""

    found: Sequence[Candidate]
    size: int
    """How many memories were looked at."""
    frequencies: Sequence[int]
    """In how many of them each query lexeme stands, in the query's order."""
    mean_length: float
