"""Delivery of what webhooks are told: beside the request that caused it, signed, retried, to public addresses only.

What is told is read when it is sent: words that were forgotten meanwhile are not.
"""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import aiohttp
import structlog
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from runtime_svc.webhooks.registered import Webhook, may_reach, signature
from shared.errors import ServiceError

log = structlog.get_logger()

_WAITING = 1000
"""Messages that wait; more are let go of, and noted."""
_SENDERS = 4
_TRIES = (0.0, 1.0, 5.0, 30.0)
"""Seconds before each try."""
_TIMEOUT = aiohttp.ClientTimeout(total=10)

Read = Callable[[], Awaitable[dict[str, object] | None]]
"""Reads what a message says; None when there is nothing to say any more."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message to one webhook."""

    webhook: Webhook
    read: Read


class PublicOnly(AbstractResolver):
    """Resolves names to public addresses only: a webhook is no way into this machine's network."""

    def __init__(self) -> None:
        self._resolver = aiohttp.resolver.ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """As the system does, without addresses that are not public. Raises OSError when none is left."""
        found = [one for one in await self._resolver.resolve(host, port, family) if may_reach(one["host"])]
        if not found:
            raise OSError(None, "no public address")
        return found

    async def close(self) -> None:
        """Nothing is held."""
        await self._resolver.close()


@dataclass(slots=True)
class Delivery:
    """Sends messages, a few at a time. `private` lets them go to private addresses too."""

    private: bool = False
    _queue: asyncio.Queue[Message] = field(default_factory=lambda: asyncio.Queue(_WAITING))
    _senders: list[asyncio.Task[None]] = field(default_factory=list)

    def start(self) -> None:
        """Begin to send."""
        self._senders = [asyncio.create_task(self._send_all()) for _ in range(_SENDERS)]

    async def close(self) -> None:
        """Stop; what waits is let go of."""
        for sender in self._senders:
            sender.cancel()
        await asyncio.gather(*self._senders, return_exceptions=True)

    def post(self, message: Message) -> None:
        """Have a message sent; never waits."""
        try:
            self._queue.put_nowait(message)
        except asyncio.QueueFull:
            log.warning("webhook.dropped", webhook=message.webhook.id)

    async def _send_all(self) -> None:
        connector = aiohttp.TCPConnector(resolver=None if self.private else PublicOnly(), limit=1)
        async with aiohttp.ClientSession(connector=connector, timeout=_TIMEOUT, trust_env=False) as session:
            while True:
                message = await self._queue.get()
                if not await _sent(session, message, private=self.private):
                    log.warning("webhook.given_up", webhook=message.webhook.id)


async def _sent(session: aiohttp.ClientSession, message: Message, *, private: bool) -> bool:
    for pause in _TRIES:
        await asyncio.sleep(pause)
        try:
            said = await message.read()
            if said is None or await _taken(session, message.webhook, said, private=private):
                return True
        except (aiohttp.ClientError, TimeoutError, OSError, ServiceError, ValueError):
            continue
    return False


async def _taken(session: aiohttp.ClientSession, webhook: Webhook, said: dict[str, object], *, private: bool) -> bool:
    """Whether the receiver took it: any 2xx. A redirect is not followed."""
    if not private and not may_reach(URL(webhook.url).host or ""):
        return False
    raw, timestamp = json.dumps(said).encode(), str(int(time.time()))
    headers = {
        "Content-Type": "application/json",
        "X-Webhook-Id": webhook.id,
        "X-Webhook-Timestamp": timestamp,
        "X-Webhook-Signature": signature(webhook.secret, timestamp, raw),
    }
    async with session.post(webhook.url, data=raw, headers=headers, allow_redirects=False) as response:
        return 200 <= response.status < 300
