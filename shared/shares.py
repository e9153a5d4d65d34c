"""Allowances: `reader` may use what `source` remembers of a person, since `allowed_at`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from shared.scope import Everything

MOST_SOURCES = 64
"""How many applications one reader may be allowed to read: each is one more search in a turn."""
MOST_SHARES = 1000
"""How many allowances one person may have."""


@dataclass(frozen=True, slots=True)
class Share:
    """One allowance of a person. Both applications by key, `app:<uid>`."""

    source: str
    reader: str
    allowed_at: datetime


class Shares(Protocol):
    """The allowances of people, each person's own. Every method may raise `Unavailable`."""

    async def allowed(
        self, person: Everything, *, source: str | None = None, reader: str | None = None
    ) -> Sequence[Share]:
        """Those of a person, of one source, of one reader or of both; oldest first."""

    async def allow(self, person: Everything, *, source: str, reader: str) -> Share:
        """Allow; what was allowed before is kept as it was. Raises Conflict when there are too many."""

    async def stop(self, person: Everything, *, source: str, reader: str) -> bool:
        """Stop sharing; False when it was never allowed."""
