"""Plain data that crosses the ports: memories, changes, outcomes. No behaviour beyond reading a payload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID, uuid5

import numpy as np
from numpy.typing import NDArray

from shared.named import Named, named_in

Vector = NDArray[np.float32]
"""An embedding of unit length, one dimension."""

Payload = Mapping[str, Any]
"""A memory as mem0 keeps it: its own keys beside the client's metadata."""

RESERVED = frozenset(
    {
        "data",
        "hash",
        "text_lemmatized",
        "user_id",
        "agent_id",
        "run_id",
        "actor_id",
        "role",
        "created_at",
        "updated_at",
        "attributed_to",
        "expiration_date",
        "corrected_by",
        "corrected_at",
        "vector_of",
        "words_version",
        "app_id",
        "inner_agent",
        "categories",
        "immutable",
        "named_entities",
        "state_unit",
    }
)
"""Payload keys that are mem0's or ours: client metadata never sets or moves them.

`inner_agent` is the agent *inside* an application (the Mem0 dialect's `agent_id`; mem0's own key holds the
application). `vector_of` is the hash of the words that the vector was made of; absent when it is fresh.
`named_entities` are those that the words name, where an entity extractor is configured; see `shared.named`.
`state_unit` is what a document of contract 002 said of the memory beyond that, see `shared.snapshots.units`."""


class Door(StrEnum):
    """The dialect that a change came through."""

    APPS = "apps"
    PLATFORM = "platform"
    MEM0 = "mem0"
    GATEWAY = "gateway"
    MCP = "mcp"
    CHAT = "chat"
    STATE = "state"
    SERVICE = "service"
    """The service itself: expiry, re-embedding, import."""


@dataclass(frozen=True, slots=True)
class By:
    """Who did it: the credential's owner (not the person, when impersonating), and through which door."""

    actor: str
    door: Door
    application: str | None = None
    """The application that a key is bound to, when a key did it."""


class Memory(NamedTuple):
    """One remembered thing: its id (a UUID, lower case) and its stored payload. Fifty are made for every list."""

    id: str
    payload: Payload

    @property
    def words(self) -> str:
        return str(self.payload.get("data") or "")

    @property
    def person(self) -> str:
        return str(self.payload.get("user_id") or "")

    @property
    def application(self) -> str:
        return str(self.payload.get("agent_id") or "")

    @property
    def created_at(self) -> str | None:
        return self._text("created_at")

    @property
    def updated_at(self) -> str | None:
        """Equal to `created_at` until changed; rows of a stock client may lack it."""
        return self._text("updated_at") or self.created_at

    @property
    def corrected_by(self) -> str | None:
        return self._text("corrected_by")

    @property
    def corrected_at(self) -> str | None:
        return self._text("corrected_at")

    @property
    def run_id(self) -> str | None:
        return self._text("run_id")

    @property
    def expiration_date(self) -> str | None:
        return self._text("expiration_date")

    @property
    def hash(self) -> str | None:
        return self._text("hash")

    @property
    def categories(self) -> list[str]:
        """Whatever another client wrote under that name, a list."""
        found = self.payload.get("categories")
        return [str(one) for one in found] if isinstance(found, list | tuple) else []

    @property
    def named(self) -> list[Named]:
        """The entities that the words name."""
        return named_in(self.payload)

    @property
    def immutable(self) -> bool:
        return self.payload.get("immutable") is True

    @property
    def metadata(self) -> dict[str, Any]:
        """What the client added: every payload key that is not reserved."""
        payload, added = self.payload, {}
        for key in payload:  # half the time of a comprehension: few are not reserved
            if key not in RESERVED:
                added[key] = payload[key]
        return added

    def _text(self, key: str) -> str | None:
        value = self.payload.get(key)
        return None if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Page:
    """Memories of a list, newest first, and how many there are in all (visible, unexpired, matching)."""

    memories: Sequence[Memory]
    total: int
    next: str | None
    """Where the following page starts: give it back as `after`; None on the last page."""


class Event(StrEnum):
    """What became of one memory in a learn."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    NONE = "NONE"


@dataclass(frozen=True, slots=True)
class Add:
    """A memory to keep. `payload` is complete but for `user_id` and `agent_id`, which the store pins to the scope."""

    id: str
    payload: Payload
    vector: Vector


@dataclass(frozen=True, slots=True)
class Update:
    """New words for a memory of the scope; unknown ids are skipped, for an LLM may name any."""

    id: str
    words: str
    lexemes: str
    vector: Vector
    metadata: Payload = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Delete:
    """A memory of the scope to forget; unknown ids are skipped."""

    id: str


Change = Add | Update | Delete


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a change. For an exact duplicate: the existing id, and NONE."""

    id: str
    words: str
    event: Event
    old_words: str | None = None


@dataclass(frozen=True, slots=True)
class Patch:
    """A correction of one memory: only what is not None changes.

    With new words and no vector (the platform has no embedder) the old vector stays and `vector_of` says so.
    `payload` members are merged over the stored ones; a None member is removed.
    """

    words: str | None = None
    lexemes: str | None = None
    vector: Vector | None = None
    payload: Payload = field(default_factory=dict)
    correction: bool = True
    """Whether `corrected_by` and `corrected_at` are set when the words change."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One entry of a memory's history, oldest first."""

    id: str
    memory_id: str
    event: Event
    old_words: str | None
    new_words: str | None
    person: str
    application: str
    actor: str
    door: str
    at: datetime


def revision_id(memory_id: str, place: int) -> str:
    """Of an entry of a history, by its place in it: unlike a number of the table it tells nothing of other people."""
    return str(uuid5(UUID(memory_id), str(place)))


@dataclass(frozen=True, slots=True)
class Receipt:
    """That something was forgotten: never what."""

    id: str
    application: str | None
    """None when it was forgotten across applications."""
    verb: str
    """`forget`, `forget_all`, `erase`, `expire`, `restore`."""
    forgotten: int
    actor: str
    door: str
    at: datetime
    held_by_snapshots: int = 0
    """How many of the person's snapshots still hold something of it."""


@dataclass(frozen=True, slots=True)
class ApplicationSummary:
    """What one application holds of a person: how much, since when, until when."""

    application: str
    total: int
    first_at: str | None
    last_at: str | None
