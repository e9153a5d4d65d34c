"""What an add says, as a lesson, and how each version of the dialect is answered."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import Field

from runtime_svc.learning import Learned
from runtime_svc.lesson import Lesson, said_at
from runtime_svc.mem0_dialect.views import QUEUED, queued, stored
from runtime_svc.ports import Message
from shared.errors import BadValue
from shared.http.body import Body
from shared.times import expiration

STORED = "Memories stored successfully"
_MOST_MESSAGES = 1000
_MOST_CATEGORIES = 100
_LONGEST_MEANING = 500


class Adding(Body):
    """The body of an add, of any version; what it does not know of is ignored."""

    messages: str | dict[str, Any] | list[dict[str, Any]] = Field(default_factory=list)
    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None
    filters: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    infer: bool | None = None
    async_mode: bool | None = None
    immutable: bool | None = None
    expiration_date: str | None = None
    timestamp: int | float | str | None = None
    custom_instructions: str | None = Field(default=None, max_length=10_000)
    agent_custom_instructions: str | None = Field(default=None, max_length=10_000)
    includes: str | None = Field(default=None, max_length=2_000)
    excludes: str | None = Field(default=None, max_length=2_000)
    custom_categories: list[Any] | None = Field(default=None, max_length=100)
    output_format: str | None = None

    @property
    def waits(self) -> bool:
        """Whether the answer has what was learned: asked for, or nothing is to be inferred."""
        return self.async_mode is False or self.infer is False


def lesson(said: Adding, ids: Mapping[str, Any], project: Mapping[str, Any]) -> Lesson:
    """What is to be learned; the project's settings hold where the call says nothing. Raises BadValue."""
    return Lesson(
        messages=messages(said.messages),
        run_id=ids.get("run_id"),
        metadata=said.metadata or {},
        expiration_date=None if said.expiration_date is None else expiration(said.expiration_date),
        learned_at=None if said.timestamp is None else instant(said.timestamp, "timestamp"),
        infer=said.infer is not False,
        instructions=_instructions(said, ids, project),
        catalogue=catalogue_of(said.custom_categories or project.get("custom_categories")),
        inner_agent=ids.get("agent_id"),
        # With a user and an agent, each fact is of the one who said it; with an agent alone, all are the agent's.
        by_speaker=ids.get("user_id") is not None,
        immutable=bool(said.immutable),
    )


def messages(said: str | dict[str, Any] | list[dict[str, Any]]) -> list[Message]:
    """The messages; one text is the user's. Raises BadValue."""
    if isinstance(said, str):
        return [Message("user", said)]
    given = [said] if isinstance(said, dict) else said
    if not given or len(given) > _MOST_MESSAGES:
        raise BadValue(f"messages has at least one message, and at most {_MOST_MESSAGES}.")
    return [_message(one) for one in given]


def _message(said: Mapping[str, Any]) -> Message:
    role, name = said.get("role", "user"), said.get("name")
    if not isinstance(role, str) or not (name is None or isinstance(name, str)):
        raise BadValue("A message has a role: user, assistant or system.")
    return Message(role, _words(said.get("content")), name or None)


def _words(content: object) -> str:
    """The text of a message. Of parts, those that are text: pictures and documents are not read."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    if not all(isinstance(part, dict) for part in parts) or not all(isinstance(text, str) for text in texts):
        raise BadValue("A message's content is text, or a list of parts.")
    return "\n".join(str(text) for text in texts)


def catalogue_of(categories: list[Any] | None) -> dict[str, str]:
    """Categories, each with what it means. Raises BadValue, as the platform does, for names without a meaning."""
    found: dict[str, str] = {}
    for one in categories or ():
        if not isinstance(one, dict):
            kind = {str: "str", int: "int", float: "float", bool: "bool", list: "list"}.get(type(one), "null")
            raise BadValue(f'Expected a dictionary of items but got type "{kind}".')
        found |= one
    if len(found) > _MOST_CATEGORIES or not all(_fits(name, meaning) for name, meaning in found.items()):
        raise BadValue(
            f"custom_categories has at most {_MOST_CATEGORIES} names, each with what it means in at most"
            f" {_LONGEST_MEANING} characters."
        )
    return found


def _fits(name: str, meaning: object) -> bool:
    return 0 < len(name) <= 100 and isinstance(meaning, str) and len(meaning) <= _LONGEST_MEANING


def instant(said: float | str, name: str) -> datetime:
    """A time: seconds since 1970, or ISO 8601 with the offset it was given with. Raises BadValue, with its name."""
    try:
        if isinstance(said, str):
            return said_at(said)
        if math.isfinite(said):
            return datetime.fromtimestamp(said, UTC)
    except (BadValue, ValueError, OverflowError, OSError):
        pass
    raise BadValue(f"{name} is a time: ISO 8601, such as 2026-11-30 or 2026-11-30T15:44:12Z, or seconds since 1970.")


def _instructions(said: Adding, ids: Mapping[str, Any], project: Mapping[str, Any]) -> str | None:
    """What the LLM is told: of an agent alone its own, of a user and an agent each for what is theirs."""
    general = said.custom_instructions or project.get("custom_instructions")
    agents = said.agent_custom_instructions or project.get("agent_custom_instructions")
    if agents is not None and ids.get("agent_id") is not None:
        of_both = [general, f"Of what the assistant says: {agents}"]
        general = "\n".join(part for part in of_both if part) if ids.get("user_id") is not None else agents
    parts = [
        general,
        "Write each fact in the language in which it was said." if project.get("multilingual") else None,
        said.includes and f"Keep only what is about: {said.includes}",
        said.excludes and f"Never keep anything about: {said.excludes}",
    ]
    return "\n".join(part for part in parts if part) or None


def items(learned: Learned, said: Adding) -> list[dict[str, Any]]:
    """What became of an add: of each memory when it was learned, else of the event that stands for it."""
    event = learned.event
    if learned.outcomes is not None:
        return [stored(one, None if event is None else event.id) for one in learned.outcomes]
    last = next((one.content for one in reversed(messages(said.messages)) if one.role == "user"), "")
    return [] if event is None else [queued(event, last)]


def envelope(learned: Learned, said: Adding) -> dict[str, Any]:
    """The answer of version 3: an object about the whole add."""
    event_id = None if learned.event is None else learned.event.id
    if learned.outcomes is None:
        return {"message": QUEUED, "status": "PENDING", "event_id": event_id}
    return {"message": STORED, "status": "SUCCEEDED", "event_id": event_id, "results": items(learned, said)}
