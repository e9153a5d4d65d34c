"""What the services answer, as they answer it."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class RuntimeMemory(TypedDict):
    """One remembered thing; the platform gives all members, a runtime those of contract 000."""

    id: str
    memory: str
    created_at: str | None
    updated_at: str | None
    corrected_by: str | None
    corrected_at: str | None
    hash: NotRequired[str | None]
    user_id: NotRequired[str]
    agent_id: NotRequired[str]
    run_id: NotRequired[str | None]
    actor_id: NotRequired[str | None]
    role: NotRequired[str | None]
    scope: NotRequired[str | None]
    expiration_date: NotRequired[str]
    expired: NotRequired[bool]
    categories: NotRequired[list[str]]
    metadata: NotRequired[dict[str, Any]]
    score: NotRequired[float]
    remembered_by: NotRequired[str]


class MemoryList(TypedDict):
    """Some of the memories, newest first; `next` is where the following page starts."""

    success: bool
    message: str | None
    count: int
    total: int | None
    next: str | None
    limit: int
    offset: int
    user_id: str | None
    memories: list[RuntimeMemory]


class Share(TypedDict):
    """`reader` may use what `source` remembers of the person; both `app:<uid>`."""

    source: str
    reader: str
    allowed_at: NotRequired[str]


class RememberingApplication(TypedDict):
    """An application that remembers something of the person."""

    app: str
    total: int
    first_at: str | None
    last_at: str | None


class Revision(TypedDict):
    """What became of a memory, once."""

    id: str
    memory_id: str
    event: Literal["ADD", "UPDATE", "DELETE", "NONE"]
    old_memory: str | None
    new_memory: str | None
    person: str
    app: str
    actor: str
    on_behalf_of: str | None
    door: str
    at: str


class Receipt(TypedDict):
    """That something was forgotten; never what."""

    id: str
    app: str | None
    verb: str
    forgotten: int
    actor: str
    door: str
    at: str
    held_by_snapshots: int


class Access(TypedDict):
    """Who reached the person's memories in their name."""

    actor: str
    verb: str
    door: str
    app: str | None
    memories: int
    at: str


class Snapshot(TypedDict):
    """A snapshot without its content."""

    id: str
    created: str
    counts: dict[str, int]
    size: int


class ApiKey(TypedDict):
    """A key; `key` is its text, in the answer that made it only."""

    id: str
    name: str
    prefix: str
    application: str | None
    all_applications: bool
    scopes: list[str]
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    key: NotRequired[str]


class Message(TypedDict):
    """One message of a conversation."""

    role: str
    content: str
    name: NotRequired[str]
    timestamp: NotRequired[str]


class Lesson(TypedDict, total=False):
    """What is to be learned: one memory in words, or the messages of a conversation."""

    memory: str
    messages: list[Message]
    metadata: dict[str, Any]
    run_id: str
    expiration_date: str
    timestamp: str
    infer: bool
    custom_instructions: str
    wait: bool


class Learned(TypedDict, total=False):
    """`results` of what was learned, or the event that will learn it."""

    results: list[dict[str, str]]
    event_id: str
    status: str


class Found(TypedDict):
    """What a search found; `unread` says why nothing was read, when nothing was."""

    app: str
    memories: list[RuntimeMemory]
    unread: NotRequired[str]


class Recalled(Found):
    """What was found, and a block of it for an LLM."""

    context: str
