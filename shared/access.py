"""The record of who reached a person's memories in another's name; the person reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from shared.scope import Everything, Reach


@dataclass(frozen=True, slots=True)
class Access:
    """One access: who, by which verb and door, how many memories it reached, when. Never their words."""

    actor: str
    verb: str
    """`list`, `get`, `search`, `recall`, `learn`, `correct`, `forget`, `forget_all`, `stats`."""
    door: str
    application: str | None
    """None when it reached across applications."""
    memories: int
    at: datetime


class AccessRecord(Protocol):
    """Keeps accesses for the person they are about. Every method may raise `Unavailable`."""

    async def note(self, person: Everything, access: Access) -> None:
        """Keep one."""

    async def accesses(self, reach: Reach, *, limit: int, offset: int = 0) -> Sequence[Access]:
        """Those to a person's memories, newest first; of one application, without those across all of them."""
