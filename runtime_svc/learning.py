"""Learning: what is accepted is kept, and what it teaches is committed whole, within the caller's scope."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from runtime_svc.categorising import Categoriser
from runtime_svc.lesson import Lesson, from_json, to_json
from runtime_svc.ports import Extracted, Extractor, LearnFailed, Message
from shared.filters import Among, Filter
from shared.payloads import Details, new_payload
from shared.records import Add, By, Change, Memory, Outcome
from shared.scope import Reach, Scope
from shared.stores.ports import Accepted, Embedder, MemoryStore
from shared.stores.queue import UNFINISHED, Claimed, LearnEvent, LearnQueue, Status
from shared.times import now

_FIRST_LOOK = 0.02
_LONGEST_LOOK = 0.5


@dataclass(frozen=True, slots=True)
class Learning:
    """What learning needs."""

    store: MemoryStore
    embedder: Embedder
    queue: LearnQueue
    extractor: Extractor | None = None
    """None without an LLM: then words are kept as they are."""
    categoriser: Categoriser | None = None
    """None where nothing is sorted into categories."""
    ring: Callable[[], None] = lambda: None
    """Tells the workers of this process that something waits."""
    most_waiting: int = 100
    """Unfinished learns of one person."""
    patience: float = 60.0
    """Seconds that a caller who waits is kept."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What became of a learn: its outcomes, or the event in which they will stand."""

    event: LearnEvent | None
    outcomes: Sequence[Outcome] | None


async def learn(
    learning: Learning, scope: Scope, lesson: Lesson, by: By, *, wait: bool = False, idempotency_key: str | None = None
) -> Learned:
    """Accept a lesson: it is kept, and learned whatever happens to this process. With `wait`, see it learned.

    With a key that the scope has seen, nothing is learned again. Raises BadValue for nothing said, TooMany,
    Unavailable, and LearnFailed when it was waited for in vain.
    """
    extracts = lesson.infers and learning.extractor is not None
    lesson.check(extracted=extracts)
    if wait and not extracts and idempotency_key is None:
        return Learned(None, await learn_verbatim(learning, scope, lesson, by))
    event = await learning.queue.enqueue(
        scope,
        to_json(lesson),
        by,
        extracts=extracts,
        # It outlives what is forgotten: the client's own text, which may say anything, does not stand in it.
        idempotency_key=None if idempotency_key is None else hashlib.sha256(idempotency_key.encode()).hexdigest(),
        most=learning.most_waiting,
    )
    learning.ring()
    return await _ended(learning, scope, event) if wait else Learned(event, None)


async def _ended(learning: Learning, scope: Scope, event: LearnEvent) -> Learned:
    """Wait for an event to end, whichever runtime's worker has it; it goes on when patience ends."""
    until, pause = time.monotonic() + learning.patience, _FIRST_LOOK
    while event.status in UNFINISHED and time.monotonic() < until:
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_LOOK)
        event = await learning.queue.get(scope, event.id) or event
    if event.status is Status.FAILED:
        raise LearnFailed(event.error or "It was not learned.", may_pass=False, event_id=event.id)
    if event.status in UNFINISHED:
        return Learned(event, None)
    words = await words_of(learning.store, scope, event)
    return Learned(event, [Outcome(one.id, words.get(one.id, ""), one.event) for one in event.results])


async def memories_of(store: MemoryStore, reach: Reach, *events: LearnEvent) -> dict[str, Memory]:
    """The memories of some events by id, as they are now, read at once; without those that were forgotten since."""
    ids = tuple(dict.fromkeys(one.id for event in events for one in event.results))
    if not ids:
        return {}
    page = await store.page(reach, limit=len(ids), where=Filter(Among(ids)), show_expired=True)
    return {memory.id: memory for memory in page.memories}


async def words_of(store: MemoryStore, reach: Reach, event: LearnEvent) -> dict[str, str]:
    """The words of an event's memories by id."""
    return {memory_id: memory.words for memory_id, memory in (await memories_of(store, reach, event)).items()}


async def learn_verbatim(learning: Learning, scope: Scope, lesson: Lesson, by: By) -> list[Outcome]:
    """Keep it word for word, now. Raises BadValue for nothing said."""
    accepted = Accepted(await learning.store.epoch(scope))
    kept = await _sorted(learning, await _verbatim(learning.embedder, lesson), lesson)
    return await learning.store.commit(scope, kept, by, accepted=accepted)


async def _sorted(learning: Learning, changes: Sequence[Change], lesson: Lesson) -> list[Change]:
    """What was decided, with the categories that it is in."""
    if learning.categoriser is None:
        return list(changes)
    return await learning.categoriser.sort(changes, lesson.catalogue)


async def carry_out(learning: Learning, claimed: Claimed, worker: str) -> None:
    """Learn what was accepted. The event ends in the transaction that keeps its memories.

    Raises LearnFailed, Unavailable, BadValue, and ForgottenMeanwhile when there is nothing to learn any more.
    """
    lesson = from_json(claimed.request)
    taught = await _taught(learning, claimed.scope, lesson)
    if taught.left_out is not None:
        await learning.queue.note(claimed, worker, taught.left_out)
    changes = await _sorted(learning, taught.changes, lesson)
    accepted = Accepted(claimed.epoch, claimed.id)
    await learning.store.commit(claimed.scope, changes, claimed.by, accepted=accepted)


async def _taught(learning: Learning, scope: Scope, lesson: Lesson) -> Extracted:
    if lesson.infers and learning.extractor is not None:
        return await learning.extractor.extract(
            scope, lesson.messages, details=lesson.details, instructions=lesson.instructions
        )
    return Extracted(await _verbatim(learning.embedder, lesson))


async def _verbatim(embedder: Embedder, lesson: Lesson) -> list[Add]:
    said = lesson.kept_as_it_is()
    vectors = await embedder.embed([message.content for message in said])
    details, at = lesson.details, now()
    return [
        # A microsecond apart, so that a list shows them in the order in which they were said.
        Add(
            str(uuid.uuid4()),
            new_payload(message.content, _said_by(details, message), now=at + timedelta(microseconds=place)),
            vector,
        )
        for place, (message, vector) in enumerate(zip(said, vectors, strict=True))
    ]


def _said_by(details: Details, message: Message) -> Details:
    if not message.role:
        return details
    return dataclasses.replace(details, role=message.role, actor_id=message.name, attributed_to=message.role)
