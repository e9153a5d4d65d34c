"""Who uses the memory of which application through MCP, and the door they come in by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from aiohttp import web

from runtime_svc.finding import Reader
from runtime_svc.learning import Learning
from runtime_svc.tools import withheld
from runtime_svc.turns import Turn
from shared.records import By, Door
from shared.scope import PREFIX, Scope
from shared.stores.data import DataStore
from shared.tokens import by_of, scope_of


@dataclass(slots=True)
class Reached:
    """What a message reached, for the access record."""

    verb: str | None = None
    """None when it reached nothing of anybody."""
    memories: int = 0
    ours: bool = False
    """Whether a handler of ours was reached: then a refusal is in our words, and quotes nothing."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One message of one caller to one application."""

    reader: Reader = field(repr=False)
    learning: Learning = field(repr=False)
    data: DataStore | None = field(repr=False)
    """None where typed data is not kept."""
    turn: Turn
    application: str
    """The application's key."""
    reached: Reached = field(default_factory=Reached)

    @property
    def app(self) -> str:
        """The application's bare uid."""
        return self.application.removeprefix(PREFIX)

    @property
    def scope(self) -> Scope:
        """Raises NotAllowed."""
        return scope_of(self.turn.caller, self.application)

    @property
    def by(self) -> By:
        """Who is recorded. Raises NotAllowed."""
        return by_of(self.turn.caller, Door.MCP)

    def withheld(self) -> str | None:
        """Why nothing is remembered of this caller, in a sentence; None for a person or the machine."""
        return withheld(self.turn.caller)

    def remembers_not(self) -> str | None:
        """Why this application learns and recalls nothing, in a sentence; None when it does."""
        return self.reader.appspecs.why_not(self.application)


class McpDoor(Protocol):
    """Answers MCP messages that come over HTTP."""

    async def exchange(self, request: web.Request, visit: Visit) -> web.Response:
        """The answer to one message. Raises WrongMediaType; aiohttp answers 413 for a larger body."""
