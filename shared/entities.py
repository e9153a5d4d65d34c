"""What a person's memories are about, as the Mem0 dialect names it: the user, agents inside, applications, runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["user", "agent", "app", "run"]

KINDS: tuple[Kind, ...] = ("user", "agent", "app", "run")


@dataclass(frozen=True, slots=True)
class Entity:
    """One of them, and how much is remembered of it."""

    kind: Kind
    name: str
    total: int
    first_at: str | None
    last_at: str | None
