"""Names of webhooks, resolved to public addresses only: a webhook is no way into this machine's network."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from aiohttp.abc import AbstractResolver, ResolveResult

from runtime_svc.webhooks.registered import may_reach

_BY_NUMBER = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV


class PublicOnly(AbstractResolver):
    """Resolves in threads of its own: a name whose server hangs holds one of them, and nothing else of the process."""

    def __init__(self, at_once: int) -> None:
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="webhook-names")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """As the system does, without addresses that are not public. Raises OSError when none is left."""
        look_up = partial(socket.getaddrinfo, host, port, family, socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
        answers = await asyncio.get_running_loop().run_in_executor(self._threads, look_up)
        found = [
            ResolveResult(
                hostname=host, host=str(where[0]), port=int(where[1]), family=kind, proto=proto, flags=_BY_NUMBER
            )
            for kind, _, proto, _, where in answers
            if may_reach(str(where[0]))
        ]
        if not found:
            raise OSError(None, "no public address")
        return found

    async def close(self) -> None:
        """Nobody waits for a look-up that still hangs."""
        self._threads.shutdown(wait=False, cancel_futures=True)
