"""A lesson: what is to be learned, as a caller says it and as the queue keeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from runtime_svc.ports import Message
from shared.errors import BadValue
from shared.payloads import Details, client_metadata
from shared.times import moment
from shared.wording import check_text, learned_words, says_something

_SAID_BY = ("user", "assistant")
_LONGEST_ID = 255
_NOTHING = "There is nothing to learn: no memory, and no message that says something."


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is to be learned: one memory in so many words, or messages."""

    memory: str | None = None
    messages: Sequence[Message] = ()
    run_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    expiration_date: str | None = None
    """Checked by `shared.times.expiration`."""
    learned_at: datetime | None = None
    infer: bool = True
    """Whether facts are found in the messages; otherwise each message is kept as it is."""
    instructions: str | None = None
    """What the LLM is told beside mem0's prompt."""
    inner_agent: str | None = None
    by_speaker: bool = False
    """Whether only what the assistant says is the inner agent's, and the rest the person's."""
    categories: tuple[str, ...] = ()
    catalogue: Mapping[str, str] = field(default_factory=dict)
    """Categories with their meaning to sort it into; the default ones when empty."""
    immutable: bool = False

    @property
    def infers(self) -> bool:
        """Whether an LLM, where there is one, finds the facts."""
        return self.memory is None and self.infer

    @property
    def details(self) -> Details:
        """What every memory of it carries."""
        return Details(
            run_id=self.run_id,
            metadata=self.metadata,
            expiration_date=self.expiration_date,
            learned_at=self.learned_at,
            inner_agent=self.inner_agent,
            by_speaker=self.by_speaker,
            categories=self.categories,
            immutable=self.immutable,
        )

    def kept_as_it_is(self) -> list[Message]:
        """What is kept word for word, white space folded. Raises BadValue for what cannot be, and for nothing said.

        That is the memory; or each message, where nothing is to be inferred; or, where nothing can be, the user's own,
        for an assistant's words are no facts of the user's.
        """
        if self.memory is not None:
            return [Message("", learned_words(self.memory))]
        by = ("user",) if self.infer else _SAID_BY
        said = [m for m in self.messages if m.role in by and says_something(m.content)]
        if not said:
            raise BadValue(_NOTHING)
        return [Message(m.role, learned_words(m.content), m.name, m.at) for m in said]

    def check(self, *, extracted: bool) -> None:
        """Raises BadValue for what could not be learned later on; `extracted` when an LLM finds the facts."""
        client_metadata(self.metadata)
        if max(len(self.run_id or ""), len(self.inner_agent or "")) > _LONGEST_ID:
            raise BadValue(f"An id is at most {_LONGEST_ID} characters.")
        for text in (
            self.run_id,
            self.instructions,
            self.inner_agent,
            *self.categories,
            *self.catalogue,
            *self.catalogue.values(),
        ):
            check_text(text or "", "What is to be learned")
        if not extracted:
            self.kept_as_it_is()
            return
        for message in self.messages:
            check_text(message.content + (message.name or ""), "A message")
        if not any(m.role in _SAID_BY and says_something(m.content) for m in self.messages):
            raise BadValue(_NOTHING)


def said_at(text: str) -> datetime:
    """A moment with the offset that it was given with: an LLM is told the time of the place. Raises BadValue."""
    moment(text)
    at = datetime.fromisoformat(text)
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at


def to_json(lesson: Lesson) -> dict[str, Any]:
    """As the queue keeps it."""
    return {
        "memory": lesson.memory,
        "messages": [{"role": m.role, "content": m.content, "name": m.name, "at": _iso(m.at)} for m in lesson.messages],
        "run_id": lesson.run_id,
        "metadata": dict(lesson.metadata),
        "expiration_date": lesson.expiration_date,
        "learned_at": _iso(lesson.learned_at),
        "infer": lesson.infer,
        "instructions": lesson.instructions,
        "inner_agent": lesson.inner_agent,
        "by_speaker": lesson.by_speaker,
        "categories": list(lesson.categories),
        "catalogue": dict(lesson.catalogue),
        "immutable": lesson.immutable,
    }


def from_json(kept: Mapping[str, Any]) -> Lesson:
    """What `to_json` made."""
    times = {"learned_at": _at(kept["learned_at"]), "categories": tuple(kept["categories"])}
    messages = [Message(m["role"], m["content"], m["name"], _at(m["at"])) for m in kept["messages"]]
    return Lesson(**{**kept, **times, "messages": messages})


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


def _at(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
