"""The queue of learns: what was accepted and is not yet learned. Both engines answer alike.

A learn is PENDING until a worker claims it, RUNNING while the worker's lease lasts, and then SUCCEEDED (by
`MemoryStore.commit`, in the transaction of its memories) or FAILED. Its request is erased when it ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

from shared.records import By, Event
from shared.scope import Reach, Scope


class Status(StrEnum):
    """Where a learn stands."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"


UNFINISHED = (Status.PENDING, Status.RUNNING)

MOST_ATTEMPTS = 5
"""A learn that was begun so often and never ended fails: it may be what ends the workers."""

INTERRUPTED = f"It was begun {MOST_ATTEMPTS} times and never ended."


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one memory. Its words are read from the memory itself: forgotten there, forgotten here."""

    id: str
    event: Event


@dataclass(frozen=True, slots=True)
class LearnEvent:
    """An accepted learn, as its person sees it."""

    id: str
    scope: Scope
    status: Status
    results: Sequence[Result]
    error: str | None
    note: str | None
    """What was left out of a learn that succeeded, in a sentence."""
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Claimed:
    """A learn that this worker has until its lease ends."""

    id: str
    scope: Scope
    request: Mapping[str, Any]
    by: By
    epoch: int
    attempt: int
    """1 for the first."""


class UnreadableLearnError(Exception):
    """A learn was claimed that this version cannot read. Its lease ends like a dead worker's: another may read it."""

    def __init__(self, event_id: str) -> None:
        super().__init__(event_id)
        self.event_id = event_id


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events of a list, newest first."""

    events: Sequence[LearnEvent]
    next: str | None


class LearnQueue(Protocol):
    """Learns that were accepted. Every method may raise Unavailable; then nothing was changed."""

    async def enqueue(
        self,
        scope: Scope,
        request: Mapping[str, Any],
        by: By,
        *,
        extracts: bool,
        idempotency_key: str | None,
        most: int,
    ) -> LearnEvent:
        """Keep a request to learn under the scope's present epoch; `extracts` when it needs the LLM.

        With a key that the scope has seen, the event of the first request is answered and nothing is added. Raises
        TooMany when the person has `most` unfinished ones.
        """

    async def claim(self, worker: str, lease: timedelta, *, extracting: bool | None = None) -> Claimed | None:
        """The oldest learn that may run, for this worker alone; None when there is none.

        One of a scope runs at a time, in the order of acceptance; one that waits to be tried again keeps the later ones
        of its scope waiting. `extracting` takes only those that need the LLM, or only those that do not. Raises
        UnreadableLearnError: there may be others.
        """

    async def extend(self, learn: Claimed | LearnEvent, worker: str, lease: timedelta) -> bool:
        """Keep a claimed learn for longer; False when it is no longer this worker's."""

    async def note(self, learn: Claimed | LearnEvent, worker: str, note: str) -> None:
        """Say what is left out, before the learn is committed."""

    async def put_back(
        self, learn: Claimed | LearnEvent, worker: str, *, after: timedelta, counted: bool = True
    ) -> bool:
        """Let it be tried again after a while; `counted` as an attempt or not. False when it is not this worker's."""

    async def fail(self, learn: Claimed | LearnEvent, worker: str, sentence: str) -> bool:
        """End it without result; its request is erased. False when it is not this worker's."""

    async def lapse(self) -> int:
        """Put back what a worker left behind when its lease ended; how many."""

    async def drop_finished(self, older_than: timedelta) -> int:
        """Drop what ended longer ago than that; how many."""

    async def depth(self) -> int:
        """How many of everybody's have not ended: a number for operators."""

    async def get(self, reach: Reach, event_id: str) -> LearnEvent | None:
        """One by id; None when unknown, malformed, or out of reach."""

    async def page(
        self, reach: Reach, *, limit: int, offset: int = 0, after: str | None = None, status: Status | None = None
    ) -> EventPage:
        """Newest first. Raises BadValue for an `after` that is no page's `next`."""

    async def count(self, reach: Reach) -> int:
        """How many events there are."""
