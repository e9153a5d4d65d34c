"""Delivery of what webhooks are told: from the outbox, signed, retried, to public addresses only.

The outbox is shared by every runtime of a store. A message is one runtime's while its lease lasts; one that is killed
leaves it to the others. So a message may come twice, by the same id.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
import uuid
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import aiohttp
import structlog
from yarl import URL

from runtime_svc.webhooks.addresses import PublicOnly
from runtime_svc.webhooks.hanging import Hanging
from runtime_svc.webhooks.registered import may_reach, signature
from runtime_svc.webhooks.saying import Message, message_of
from shared.client_records import ClientRecords
from shared.errors import ServiceError
from shared.logs import fault
from shared.stores.outbox import MOST_ATTEMPTS, Delivery, Outbox
from shared.stores.ports import MemoryStore

log = structlog.get_logger()

_NOW = timedelta(0)
_TIMEOUT = aiohttp.ClientTimeout(total=10)


@dataclass(frozen=True, slots=True)
class Pace:
    """How many messages are sent at once, and how long things take. All times in seconds."""

    senders: int = 64
    """More than a few people's addresses that hang can fill before it is known that they do."""
    failing: int = 16
    """Of the senders, for webhooks that failed last: the others are kept for those that did not."""
    lease: float = 30.0
    """Longer than an attempt: a message whose runtime is gone is sent by another after that."""
    longest: float = 15.0
    """One attempt: reading what to say, and saying it."""
    poll: float = 1.0
    pauses: Sequence[float] = (1.0, 5.0, 30.0, 120.0, 600.0)
    """After each failure of a webhook in a row; the last one after each further one."""
    away: float = 5.0
    """After what to say could not be read, or while its address, which hung, is tried by another sender."""
    kept: float = 24 * 3600.0
    """What waits for longer is let go of."""


@dataclass(slots=True)
class Numbers:
    """What became of messages since the start."""

    told: int = 0
    given_up: int = 0
    too_old: int = 0


class _NotItsTurnError(Exception):
    """The address hung a while ago, and another sender tries it."""


class Senders:
    """Sends what waits, a few at a time. `private` lets it go to private addresses too."""

    def __init__(
        self, outbox: Outbox, records: ClientRecords, store: MemoryStore, *, private: bool = False, pace: Pace = Pace()
    ) -> None:
        self.numbers = Numbers()
        self.hanging = Hanging()
        self._outbox = outbox
        self._records = records
        self._store = store
        self._private = private
        self._pace = pace
        self._name = str(uuid.uuid4())
        self._bell = asyncio.Event()
        self._session: aiohttp.ClientSession | None = None
        self._loops: list[asyncio.Task[None]] = []
        self._sending: dict[asyncio.Task[None], bool] = {}
        """Each with whether its webhook failed last."""

    def start(self) -> None:
        """Begin to send."""
        resolver = None if self._private else PublicOnly(self._pace.senders)
        connector = aiohttp.TCPConnector(resolver=resolver, limit=self._pace.senders)
        # No cookies: what a receiver sets with one person's message must not ride on the next one's.
        self._session = aiohttp.ClientSession(
            connector=connector, timeout=_TIMEOUT, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
        )
        self._outbox.listen(self._bell.set)
        self._loops = [asyncio.create_task(self._take()), asyncio.create_task(self._keep_house())]

    async def close(self) -> None:
        """Stop; what is being sent is put back."""
        for task in (*self._loops, *self._sending):
            task.cancel()
        await asyncio.gather(*self._loops, *self._sending, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    async def _take(self) -> None:
        away = False
        while True:
            self._bell.clear()
            claimed: Sequence[Delivery] = ()
            try:
                claimed, away = await self._claim(), False
            except Exception as error:  # noqa: BLE001 (the next look may find the store again)
                if not away:
                    log.warning("webhook.outbox_away", **fault(error))
                away = True
            for delivery in claimed:
                task = asyncio.create_task(self._see_to(delivery))
                self._sending[task] = delivery.failures > 0
                task.add_done_callback(self._sent)
            if not claimed:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._bell.wait(), self._pace.poll * random.uniform(0.8, 1.2))  # noqa: S311 (spreads load)

    def _sent(self, task: asyncio.Task[None]) -> None:
        del self._sending[task]
        self._bell.set()  # the next one of its webhook may be sent now

    async def _claim(self) -> Sequence[Delivery]:
        free = self._pace.senders - len(self._sending)
        if free <= 0:
            return ()
        failing = max(0, self._pace.failing - sum(self._sending.values()))
        lease = timedelta(seconds=self._pace.lease)
        # Shielded: a claim that is cancelled half-way may have been made, and would wait for its lease to end.
        claiming = asyncio.ensure_future(self._outbox.claim(self._name, lease, most=free, failing=failing))
        try:
            return await asyncio.shield(claiming)
        except asyncio.CancelledError:
            with contextlib.suppress(ServiceError):
                for delivery in await claiming:
                    await self._outbox.again(delivery, self._name, after=_NOW, counted=False)
            raise

    async def _see_to(self, delivery: Delivery) -> None:
        try:
            async with asyncio.timeout(self._pace.longest):
                taken = await self._told(delivery)
        except asyncio.CancelledError:
            await _settle(self._outbox.again(delivery, self._name, after=_NOW, counted=False))
            raise
        except (_NotItsTurnError, ServiceError) as error:
            if isinstance(error, ServiceError):
                log.warning("webhook.not_read", webhook=delivery.webhook_id, **fault(error))
            away = timedelta(seconds=self._pace.away)
            await _settle(self._outbox.again(delivery, self._name, after=away, counted=False))
            return
        except Exception as error:  # noqa: BLE001 (whatever a receiver or a record does, the others are told)
            log.info("webhook.failed", webhook=delivery.webhook_id, attempt=delivery.attempt, **fault(error))
            taken = False
        await _settle(self._after(delivery, taken=taken))

    async def _after(self, delivery: Delivery, *, taken: bool) -> None:
        if taken:
            await self._outbox.end(delivery, self._name, pause=_NOW, failures=0)
            return
        failures = delivery.failures + 1
        pause = timedelta(seconds=self._pace.pauses[min(failures, len(self._pace.pauses)) - 1])
        if delivery.attempt < MOST_ATTEMPTS:
            await self._outbox.again(delivery, self._name, after=pause)
            return
        self.numbers.given_up += 1
        log.warning("webhook.given_up", webhook=delivery.webhook_id, delivery=delivery.id)
        await self._outbox.end(delivery, self._name, pause=pause, failures=failures)

    async def _told(self, delivery: Delivery) -> bool:
        """Whether it needs no further telling: it was taken, or there is nothing to say any more."""
        message = await message_of(delivery, self._records, self._store)
        if message is None:
            return True
        with self.hanging.turn(message.webhook.url) as may_be_sent:
            if not may_be_sent:
                raise _NotItsTurnError
            taken = await self._taken(delivery, message)
        self.numbers.told += taken
        return taken

    async def _taken(self, delivery: Delivery, message: Message) -> bool:
        """Whether the receiver took it: any 2xx. A redirect is not followed."""
        assert self._session is not None  # noqa: S101 (made when it began)
        webhook = message.webhook
        if not self._private and not may_reach(URL(webhook.url).host or ""):
            return False
        raw, timestamp = json.dumps(message.body).encode(), str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            "X-Webhook-Id": webhook.id,
            "X-Webhook-Delivery": delivery.id,
            "X-Webhook-Timestamp": timestamp,
            "X-Webhook-Signature": signature(webhook.secret, timestamp, raw),
        }
        async with self._session.post(webhook.url, data=raw, headers=headers, allow_redirects=False) as response:
            return 200 <= response.status < 300

    async def _keep_house(self) -> None:
        while True:
            try:
                if dropped := await self._outbox.sweep(timedelta(seconds=self._pace.kept)):
                    self.numbers.too_old += dropped
                    log.warning("webhook.too_old", count=dropped)
            except Exception as error:  # noqa: BLE001 (the next pass may reach the store again)
                log.warning("webhook.house_not_kept", **fault(error))
            await asyncio.sleep(self._pace.lease / 3)


async def _settle(last: Coroutine[Any, Any, None]) -> None:
    """The last word on a message; when the store does not take it, the lease ends and it is sent again."""
    with contextlib.suppress(ServiceError):
        await last
