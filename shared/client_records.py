"""What programs keep beside a person's memories: settings of a project, exports asked for, feedback, webhooks.

No record holds words of a memory: what is forgotten is forgotten everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from shared.scope import Everything

FEEDBACK = "feedback"
"""The kind of what is thought of a memory; its id is the memory's, and it is forgotten with it."""

WEBHOOK = "webhook"
"""The kind of a webhook: the stores look for them when something changes."""

MOST_RECORDS = 1000
"""Of one kind and one person."""


@dataclass(frozen=True, slots=True)
class ClientRecord:
    """One of them. The person, the kind and the id are its key."""

    kind: str
    id: str
    body: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime


class ClientRecords(Protocol):
    """The records of people, each person's own. Every method may raise `Unavailable`."""

    async def put(self, person: Everything, kind: str, record_id: str, body: Mapping[str, Any]) -> ClientRecord:
        """Keep one, in the place of the one that had its id. Raises Conflict when there are too many."""

    async def get(self, person: Everything, kind: str, record_id: str) -> ClientRecord | None:
        """One by id."""

    async def of(self, person: Everything, kind: str) -> Sequence[ClientRecord]:
        """All of a kind, oldest first."""

    async def drop(self, person: Everything, kind: str, record_id: str) -> bool:
        """Let one go; False when there is none."""
