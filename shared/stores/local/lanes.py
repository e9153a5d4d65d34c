"""Threads for blocking work: a fixed number each, a bounded line before them, and never on the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from shared.errors import Unavailable

T = TypeVar("T")

_BUSY = "What is remembered is asked for by too many at once. Try again in a moment."
_PATIENCE = 10.0
"""Seconds that a job waits for a thread."""


class Lane:
    """A few threads of their own."""

    def __init__(self, name: str, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"local-{name}")
        self._free = asyncio.Semaphore(threads)

    async def run(self, job: Callable[[], T]) -> T:
        """The job's result. A caller that goes away does not stop a job that has begun. Raises Unavailable."""
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._free.acquire()
        except TimeoutError as error:
            raise Unavailable(_BUSY) from error
        try:
            running = asyncio.get_running_loop().run_in_executor(self._pool, job)
        except RuntimeError as error:
            self._free.release()
            raise Unavailable("The store is closed.") from error
        running.add_done_callback(self._done)
        return await asyncio.shield(running)

    def _done(self, running: asyncio.Future[T]) -> None:
        self._free.release()
        # Somebody who went away does not ask; asked here, the event loop does not complain about it.
        running.cancelled() or running.exception()

    async def close(self) -> None:
        """Wait for what runs, then end the threads."""
        await asyncio.to_thread(self._pool.shutdown, wait=True)
