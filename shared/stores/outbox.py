"""The outbox: which webhook is still to be told of which change. Both engines answer alike.

What is to be told is written in the transaction of the change itself, so that neither is kept without the other. It
names ids and never words: those are read when they are sent, and what was forgotten by then is not said. The messages
of one webhook are sent one after another in their order; a webhook that fails keeps its own waiting and nobody else's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Protocol

from shared.records import Event


class Tell(StrEnum):
    """What a webhook may ask to be told of."""

    ADD = "memory_add"
    UPDATE = "memory_update"
    DELETE = "memory_delete"
    CATEGORIZE = "memory_categorize"


MOST_WAITING = 500
"""Messages that wait for one webhook; newer ones are refused, noted and counted."""
AT_ONCE = 2
"""Messages of one person that one process sends at once: hanging addresses of one keep nobody else's waiting."""
MOST_ATTEMPTS = 6
"""A message that was begun so often is given up: it may be what ends the process."""

_TOLD = {Event.ADD: (Tell.ADD, Tell.CATEGORIZE), Event.UPDATE: (Tell.UPDATE,), Event.DELETE: (Tell.DELETE,)}

Told = Sequence[tuple[Tell, str | None]]
"""What is to be told, in order: the kind, and the memory's id; None for all that a forget-all reached."""


def told_of(changed: Iterable[tuple[str, Event]]) -> Told:
    """What is to be told of some memories and what became of each."""
    return [(tell, memory_id) for memory_id, event in changed for tell in _TOLD.get(event, ())]


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message to one webhook, which this worker has until its lease ends."""

    key: int
    """Its place in the order."""
    id: str
    """Stays the same however often it is sent: a receiver knows by it what it has seen."""
    person: str
    application: str
    """Empty for what reached all of the person's applications."""
    webhook_id: str
    tell: Tell
    memory_id: str | None
    attempt: int
    """1 for the first."""
    failures: int
    """How often the webhook has failed since it last took something."""


class Outbox(Protocol):
    """What is still to be told. Every method may raise Unavailable; then nothing was changed."""

    @property
    def refused(self) -> int:
        """How many messages this process refused because too many waited for their webhook."""

    def listen(self, bell: Callable[[], None]) -> None:
        """Call this when a change of this process left something to tell."""

    async def claim(
        self, worker: str, lease: timedelta, *, most: int, failing: int | None = None
    ) -> Sequence[Delivery]:
        """Some that may be sent, for this worker alone: of each webhook the first, of a person no more than AT_ONCE.

        No more than `failing` are of webhooks that failed last, when it is said. Whose turn is longest due comes first.
        A worker that is gone leaves its own when the lease ends.
        """

    async def again(self, delivery: Delivery, worker: str, *, after: timedelta, counted: bool = True) -> None:
        """Let it be tried again after a while; `counted` as a failure of the webhook or not."""

    async def end(self, delivery: Delivery, worker: str, *, pause: timedelta, failures: int) -> None:
        """It was told, or is given up. The next one of its webhook waits for the pause and inherits the failures."""

    async def sweep(self, older_than: timedelta) -> int:
        """Drop what waits for longer, and what was begun too often and never ended; how many."""

    async def waiting(self) -> int:
        """How many of everybody's wait: a number for operators."""
