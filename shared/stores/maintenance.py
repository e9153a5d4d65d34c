"""What the service does of its own accord, across people: a port apart, for nothing here answers anybody.

Every method may raise `Unavailable`. Any number of processes may do it at once: each write says what it was based on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from shared.named import Named
from shared.records import By, Memory, Vector
from shared.scope import Scope


@dataclass(frozen=True, slots=True)
class Stale:
    """A memory whose vector, or whose lexemes, are not made of its words by us."""

    scope: Scope
    memory: Memory
    meaning: bool
    """Whether the vector is to be made again; else only the lexemes."""


class Maintenance(Protocol):
    """Memories that wait for a fresh vector or fresh lexemes, and those that have expired."""

    async def stale(self, *, after: str, limit: int) -> Sequence[Stale]:
        """Some that are stale and not set aside, by id, beyond `after` (`""`: from the first)."""

    async def refresh(
        self, stale: Stale, *, lexemes: str, vector: Vector | None, named: Sequence[Named] | None = None
    ) -> bool:
        """Give one what its words mean; its times and its history stay. False when its words changed meanwhile.

        The entities that its words name are set when `named` is not None.
        """

    async def set_aside(self, stale: Stale, *, seconds: float) -> None:
        """Leave one alone for so long, or until it is changed."""

    async def sweep(self, before: str, by: By, *, limit: int) -> int:
        """Forget some whose `expiration_date` lies before a UTC date, with all that is derived; how many."""
