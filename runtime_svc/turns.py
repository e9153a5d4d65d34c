"""A turn: one piece of an agent's work for one caller, in which that person's allowances are read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from shared.tokens import Caller


@dataclass(frozen=True, slots=True)
class Turn:
    """Who is calling, and the headers that ask the platform in their own name."""

    caller: Caller
    credential: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Empty for the machine: such a turn reads its own only."""
    id: str | None = None
    """Requests that carry the same `X-Turn-Id` are one turn; without one, a request is a turn of its own."""


class SharesUnreadError(Exception):
    """What a person allowed could not be read, in a sentence: the turn reads nothing, and never guesses."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class Allowances(Protocol):
    """What persons allow an application to read besides its own."""

    async def sources(self, turn: Turn, reader: str) -> tuple[str, ...]:
        """The keys of the applications that `reader` may read in this turn. Raises SharesUnreadError."""

    def forget(self, turn: Turn, reader: str) -> int:
        """Drop what is held of the person's turns with `reader`; how many were held."""


class NoPlatform:
    """The operator said that there is no platform (`RUNTIME_SHARES=off`): every turn reads its own."""

    async def sources(self, turn: Turn, reader: str) -> tuple[str, ...]:  # noqa: ARG002  (the port's parameters)
        """None."""
        return ()

    def forget(self, turn: Turn, reader: str) -> int:  # noqa: ARG002  (the port's parameters)
        """Nothing is held."""
        return 0
