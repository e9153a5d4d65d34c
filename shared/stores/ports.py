"""What a store promises. Scope first in every method; there is no unscoped variant. Both engines answer alike.

Every method may raise `Unavailable` (the store is down, slow, full or read-only; nothing was written). Every write is
one transaction: memories, history, receipt, epoch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from shared.candidates import Candidates
from shared.entities import Entity
from shared.filters import Filter
from shared.forgotten import Forgotten
from shared.named import Named
from shared.records import ApplicationSummary, By, Change, Memory, Outcome, Page, Patch, Receipt, Revision, Vector
from shared.scope import Reach, Scope


@dataclass(frozen=True, slots=True)
class Accepted:
    """What a learn was accepted under: the epoch of its scope, and its event in the queue when it has one."""

    epoch: int
    event_id: str | None = None


class MemoryStore(Protocol):
    """The memories of people, each within its scope."""

    async def page(
        self,
        reach: Reach,
        *,
        limit: int,
        offset: int = 0,
        after: str | None = None,
        where: Filter | None = None,
        show_expired: bool = False,
    ) -> Page:
        """Newest first, ties by id. `after`, a page's `next`, neither repeats nor skips. May raise BadValue."""

    async def count(self, reach: Reach, *, where: Filter | None = None, show_expired: bool = False) -> int:
        """How many there are."""

    async def get(self, reach: Reach, memory_id: str) -> Memory | None:
        """One by id, expired or not; None when unknown, malformed, or out of reach."""

    async def candidates(
        self,
        reach: Reach,
        *,
        vector: Vector | None,
        lexemes: Sequence[str],
        limit: int = 100,
        where: Filter | None = None,
        show_expired: bool = False,
    ) -> Candidates:
        """The best `limit` by cosine and the best `limit` by keyword, exactly, within the reach."""

    async def epoch(self, scope: Scope) -> int:
        """The epoch that a learn accepted now belongs to."""

    async def commit(
        self, scope: Scope, changes: Sequence[Change], by: By, *, accepted: Accepted | None = None
    ) -> list[Outcome]:
        """Write what a learn decided, with history, under the scope's lock, and end its event when it has one.

        An exact duplicate (same person, application, run and words) is kept once. Raises ForgottenMeanwhile when the
        scope's epoch is no longer the accepted one.
        """

    async def correct(self, reach: Reach, memory_id: str, patch: Patch, by: By) -> Memory | None:
        """Change one; the same words again change nothing. None when unknown or out of reach."""

    async def forget(self, reach: Reach, memory_id: str, by: By) -> Forgotten:
        """Forget one and everything derived from it: 1, or 0 when unknown or out of reach."""

    async def forget_all(
        self, reach: Reach, by: By, *, confirmed: int | None, where: Filter | None = None
    ) -> Forgotten:
        """Forget all (that match), expired ones too, and raise the epoch; how many were forgotten.

        `confirmed` is compared with the visible total under the scope's lock. Raises GrewMeanwhile.
        """

    async def history(self, reach: Reach, memory_id: str) -> list[Revision] | None:
        """What became of one memory, oldest first; None when it is unknown, forgotten or out of reach."""

    async def receipts(self, reach: Reach, *, limit: int, offset: int = 0) -> list[Receipt]:
        """What was forgotten, newest first; of one application, without what was forgotten across all of them."""

    async def applications(self, reach: Reach) -> list[ApplicationSummary]:
        """The applications within the reach that remember something of its person, by key."""

    async def entities(self, reach: Reach) -> list[Entity]:
        """What visible memories are about: the user, then agents inside, applications and runs, each by name."""


class Embedder(Protocol):
    """Turns words into vectors; off the event loop, batched and bounded by the adapter."""

    @property
    def dimensions(self) -> int:
        """The length of its vectors."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """A vector of unit length for each text, in order. Raises Unavailable."""


class EntityExtractor(Protocol):
    """Finds the entities that words name; off the event loop, bounded by the adapter."""

    async def named(self, texts: Sequence[str]) -> list[list[Named]]:
        """Those of each text, in order. It never raises: none where it failed or took too long."""
