"""What a search of the memory table looks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shared.records import Vector


@dataclass(frozen=True, slots=True)
class Sought:
    """A meaning, lexemes, or both; and how many of the best by each."""

    vector: Vector | None
    lexemes: Sequence[str]
    limit: int
