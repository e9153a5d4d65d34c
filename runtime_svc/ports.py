"""What the runtime's use cases ask of an engine: facts from a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Protocol

from shared.errors import ServiceError
from shared.payloads import Details
from shared.records import Change
from shared.scope import Scope


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation that is learned from."""

    role: str
    """`user`, `assistant` or `system`; an extractor reads no other."""
    content: str
    name: str | None = None
    """Who speaks, where several do."""
    at: datetime | None = None
    """When it was said, with the offset of the place where it was said."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a conversation taught: changes to commit, none of them written yet."""

    changes: Sequence[Change]
    left_out: str | None = None
    """What the LLM said that is not kept, in a sentence; None when all was."""


class LearnFailed(ServiceError):
    """Nothing was learned: the LLM or what it needs failed. Nothing was written."""

    status: ClassVar[int] = 502
    code: ClassVar[str] = "learn_failed"

    def __init__(
        self, sentence: str, *, may_pass: bool, retry_after: float | None = None, event_id: str | None = None
    ) -> None:
        super().__init__(sentence)
        if event_id is not None:
            self.extra["event_id"] = event_id
        self.may_pass = may_pass
        """Whether the same request may pass later: an overload, a time-out; not an answer that cannot be read."""
        self.retry_after = retry_after
        """How many seconds the provider asks to wait, when it says."""


class Extractor(Protocol):
    """Finds what is worth remembering in a conversation. It reads the scope's memories and writes nothing."""

    async def extract(
        self, scope: Scope, messages: Sequence[Message], *, details: Details, instructions: str | None = None
    ) -> Extracted:
        """Each fact found is an Add under `details`. Nothing said, nothing asked of the LLM. Raises LearnFailed."""


class Reranker(Protocol):
    """Reads a query and what was found for it together."""

    async def scores(self, query: str, texts: Sequence[str]) -> list[float] | None:
        """How well each answers, 0 to 1, in order; None when it failed or took too long."""
