"""The workers of one runtime: they take learns from the queue, a bounded number at a time, and see each to its end."""

from __future__ import annotations

import asyncio
import contextlib
import random
import uuid
from dataclasses import dataclass
from datetime import timedelta

import structlog

from runtime_svc.learning import Learning, carry_out
from runtime_svc.ports import LearnFailed
from shared.errors import BadValue, ForgottenMeanwhile, ServiceError
from shared.logs import fault
from shared.stores.queue import MOST_ATTEMPTS, Claimed, UnreadableLearnError

log = structlog.get_logger()

_UNKNOWN = "Something went wrong here. It was noted."
_LONGEST_PAUSE = 60.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How many learns run at once, and how long things take. All times in seconds."""

    any: int = 6
    """Fewer than the extractor has threads: a call that was given up may still hold one."""
    without_llm: int = 2
    """Beside those, for what needs no LLM: an LLM that hangs never keeps it waiting."""
    lease: float = 15.0
    """A learn whose worker is gone is taken over after that."""
    poll: float = 1.0
    longest: float = 120.0
    """One attempt."""
    grace: float = 5.0
    """At the end of the process, for what runs; then it is put back."""
    pause: float = 2.0
    """Before the second attempt; doubled for each further one."""
    kept: float = 7 * 24 * 3600.0
    """How long an event is kept after it ended; so long, an Idempotency-Key is known."""


class Worker:
    """Takes learns and carries them out. Started and closed with the application."""

    def __init__(self, learning: Learning, pace: Pace = Pace()) -> None:
        self._learning = learning
        self._queue = learning.queue
        self._pace = pace
        self._name = str(uuid.uuid4())
        self._bells: list[asyncio.Event] = []
        self._loops: list[asyncio.Task[None]] = []
        self._running: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Begin to take learns."""
        lanes = ((self._pace.any, None), (self._pace.without_llm, False))
        self._loops = [asyncio.create_task(self._lane(slots, extracting)) for slots, extracting in lanes]
        self._loops.append(asyncio.create_task(self._keep_house()))

    def ring(self) -> None:
        """Something waits: look now."""
        for bell in self._bells:
            bell.set()

    async def close(self) -> None:
        """Take nothing more, give what runs a moment, and put the rest back for another worker."""
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        if self._running:
            await asyncio.wait(self._running, timeout=self._pace.grace)
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _lane(self, slots: int, extracting: bool | None) -> None:  # noqa: FBT001 (as the queue names it)
        free, bell = asyncio.Semaphore(slots), asyncio.Event()
        self._bells.append(bell)

        def ended(task: asyncio.Task[None]) -> None:
            self._running.discard(task)
            free.release()
            self.ring()  # the next learn of its scope may run now

        while True:
            await free.acquire()
            task = asyncio.create_task(self._see_to_its_end(await self._next(bell, extracting)))
            self._running.add(task)
            task.add_done_callback(ended)

    async def _next(self, bell: asyncio.Event, extracting: bool | None) -> Claimed:  # noqa: FBT001 (as above)
        lease, away = timedelta(seconds=self._pace.lease), False
        while True:
            bell.clear()
            # Shielded: a claim that is cancelled half-way may have been made, and would wait for its lease to end.
            claiming = asyncio.ensure_future(self._queue.claim(self._name, lease, extracting=extracting))
            try:
                claimed, away = await asyncio.shield(claiming), False
            except UnreadableLearnError as error:
                log.warning("learn.unreadable", event_id=error.event_id)
                continue
            except Exception as error:  # noqa: BLE001 (the next look may find the store again)
                if not away:
                    log.warning("learn.queue_away", **fault(error))
                claimed, away = None, True
            except asyncio.CancelledError:
                await self._give_back(claiming)
                raise
            if claimed is not None:
                return claimed
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(bell.wait(), self._pace.poll * random.uniform(0.8, 1.2))  # noqa: S311 (spreads load)

    async def _give_back(self, claiming: asyncio.Future[Claimed | None]) -> None:
        with contextlib.suppress(ServiceError):
            if (claimed := await claiming) is not None:
                await self._queue.put_back(claimed, self._name, after=timedelta(0), counted=False)

    async def _see_to_its_end(self, claimed: Claimed) -> None:
        beating = asyncio.create_task(self._keep(claimed))
        try:
            async with asyncio.timeout(self._pace.longest):
                await carry_out(self._learning, claimed, self._name)
            log.info("learn.done", event_id=claimed.id, attempt=claimed.attempt)
        except asyncio.CancelledError:
            await self._settle(self._queue.put_back(claimed, self._name, after=timedelta(0), counted=False))
            raise
        except Exception as error:  # noqa: BLE001 (whatever happens to one learn, the worker goes on)
            await self._settle(self._after(claimed, error))
            log.warning("learn.failed", event_id=claimed.id, attempt=claimed.attempt, **fault(error))
        finally:
            beating.cancel()

    async def _after(self, claimed: Claimed, error: Exception) -> bool:
        """Let it be tried again when that may help, or end it with a sentence."""
        match error:
            case ForgottenMeanwhile() | BadValue():
                return await self._queue.fail(claimed, self._name, error.sentence)
            case LearnFailed(may_pass=False):
                return await self._queue.fail(claimed, self._name, error.sentence)
            case ServiceError():
                sentence = error.sentence
            case TimeoutError():
                sentence = "It did not end in time."
            case _:
                sentence = _UNKNOWN
        if claimed.attempt >= MOST_ATTEMPTS:
            return await self._queue.fail(claimed, self._name, f"{sentence} It was tried {claimed.attempt} times.")
        asked = error.retry_after if isinstance(error, LearnFailed) else None
        pause = self._pace.pause * 2 ** (claimed.attempt - 1) * random.uniform(0.8, 1.2)  # noqa: S311 (spreads load)
        after = max(min(pause, _LONGEST_PAUSE), asked or 0.0)
        return await self._queue.put_back(claimed, self._name, after=timedelta(seconds=after))

    async def _settle(self, last: asyncio.Future[bool] | object) -> None:
        """The last word on a learn; when the store does not take it, the lease ends and the learn is taken over."""
        with contextlib.suppress(ServiceError):
            await last  # type: ignore[misc]

    async def _keep(self, claimed: Claimed) -> None:
        lease, mine = timedelta(seconds=self._pace.lease), True
        while mine:
            await asyncio.sleep(self._pace.lease / 3)
            with contextlib.suppress(Exception):  # the next beat may reach the store again
                mine = await self._queue.extend(claimed, self._name, lease)

    async def _keep_house(self) -> None:
        while True:
            try:
                if lapsed := await self._queue.lapse():
                    log.warning("learn.taken_over", count=lapsed)
                    self.ring()
                await self._queue.drop_finished(timedelta(seconds=self._pace.kept))
            except Exception as error:  # noqa: BLE001 (without it nothing of a killed runtime is taken over)
                log.warning("learn.house_not_kept", **fault(error))
            await asyncio.sleep(self._pace.lease / 3)
