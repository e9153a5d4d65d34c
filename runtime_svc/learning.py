"""Learning: keep what is said, within the caller's scope."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from shared.errors import BadValue
from shared.payloads import Details, new_payload
from shared.records import Add, By, Outcome
from shared.scope import Scope
from shared.stores.ports import Accepted, Embedder, MemoryStore
from shared.times import now
from shared.wording import learned_words


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is to be learned: one memory in so many words, or messages."""

    memory: str | None = None
    messages: Sequence[Message] = ()
    run_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    expiration_date: str | None = None
    learned_at: datetime | None = None


async def learn_verbatim(store: MemoryStore, embedder: Embedder, scope: Scope, lesson: Lesson, by: By) -> list[Outcome]:
    """Keep it word for word: the memory as given, of messages the user's own only. Raises BadValue for nothing said."""
    accepted = Accepted(await store.epoch(scope))
    texts = _texts(lesson)
    vectors = await embedder.embed(texts)
    at = now()
    details = Details(
        run_id=lesson.run_id,
        metadata=lesson.metadata,
        expiration_date=lesson.expiration_date,
        learned_at=lesson.learned_at,
        role="user" if lesson.memory is None else None,
    )
    adds = [
        Add(str(uuid.uuid4()), new_payload(words, details, now=at), vector)
        for words, vector in zip(texts, vectors, strict=True)
    ]
    return await store.commit(scope, adds, by, accepted=accepted)


def _texts(lesson: Lesson) -> list[str]:
    if lesson.memory is not None:
        return [learned_words(lesson.memory)]
    texts = [learned_words(m.content) for m in lesson.messages if m.role == "user" and m.content.strip()]
    if not texts:
        raise BadValue("There is nothing to learn: no memory, and no message of the user.")
    return texts
