"""Threads for blocking work: a fixed number each, a bounded line before them, and never on the event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from shared.errors import Unavailable

T = TypeVar("T")

_BUSY = "What is remembered is asked for by too many at once. Try again in a moment."
_PATIENCE = 10.0
"""Seconds that a job waits for a thread."""


class Lane:
    """A few threads of their own. The one that was free last works next: what it holds is still near the processor."""

    def __init__(self, name: str, threads: int) -> None:
        self._threads = [ThreadPoolExecutor(1, thread_name_prefix=f"local-{name}-{n}") for n in range(threads)]
        self._free = list(self._threads)
        self._room = asyncio.Semaphore(threads)

    async def run(self, job: Callable[[], T]) -> T:
        """The job's result. A caller that goes away does not stop a job that has begun. Raises Unavailable."""
        await self._wait()
        thread = self._free.pop()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()

        def ended(done: Future[T]) -> None:
            with contextlib.suppress(RuntimeError):  # the event loop is no more, and nobody waits
                loop.call_soon_threadsafe(self._ended, thread, done, answer)

        try:
            # Wrapped and shielded as asyncio does it, handing a job over would cost twice as much as a short read.
            thread.submit(job).add_done_callback(ended)
        except RuntimeError as error:
            self._release(thread)
            raise Unavailable("The store is closed.") from error
        return await answer

    async def _wait(self) -> None:
        """Until a thread is free."""
        if not self._room.locked():
            await self._room.acquire()  # at once, and without a timer
            return
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._room.acquire()
        except TimeoutError as error:
            raise Unavailable(_BUSY) from error

    def _ended(self, thread: ThreadPoolExecutor, done: Future[T], answer: asyncio.Future[T]) -> None:
        self._release(thread)
        if answer.cancelled():
            return
        error = done.exception()
        if error is None:
            answer.set_result(done.result())
        else:
            answer.set_exception(error)
            answer.exception()  # somebody who goes away just now does not ask; asked here, the loop does not complain

    def _release(self, thread: ThreadPoolExecutor) -> None:
        self._free.append(thread)
        self._room.release()

    async def close(self) -> None:
        """Wait for what runs, then end the threads."""
        for thread in self._threads:
            await asyncio.to_thread(thread.shutdown, wait=True)
