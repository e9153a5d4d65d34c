"""What an administrator of the platform reads: the one port that is not pinned to the caller. Reads only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from shared.records import Memory, Page
from shared.scope import Reach


@dataclass(frozen=True, slots=True)
class Stats:
    """How much is remembered in all: numbers only."""

    collection: str
    total: int
    persons: int
    applications: int


class Administration(Protocol):
    """Reads of anybody's memories. Each is recorded for the person it is about by the use case that makes it."""

    async def page(self, reach: Reach, *, limit: int, offset: int = 0) -> Page:
        """One person's memories, expired ones too, newest first."""

    async def find(self, memory_id: str) -> Memory | None:
        """A memory by id, whoever's it is."""

    async def stats(self) -> Stats:
        """How much is remembered in all."""
