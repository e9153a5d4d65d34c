"""Threads for what blocks: a bounded executor that never holds up the end of the process, and an event loop on it."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


class DaemonExecutor(ThreadPoolExecutor):
    """An executor of `count` daemon threads.

    The standard library's joins its threads when the interpreter ends: one call to a provider that hangs would keep
    the process from ending. It is derived from only because an event loop accepts nothing else as its executor.
    """

    def __init__(self, count: int, name: str) -> None:
        super().__init__(max_workers=1)  # starts no thread until its own submit is called, which never happens
        self._waiting: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._count = count
        for number in range(count):
            threading.Thread(target=self._work, name=f"{name}-{number}", daemon=True).start()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a call on one of the threads, in turn."""
        future: Future[T] = Future()

        def call() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001 (handed to whoever waits, as every executor does)
                future.set_exception(error)
            else:
                future.set_result(result)

        self._waiting.put(call)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 (inherited)
        """Let the threads end after what waits; never waits for them."""
        del wait, cancel_futures
        for _ in range(self._count):
            self._waiting.put(None)

    def _work(self) -> None:
        while (call := self._waiting.get()) is not None:
            call()
            del call  # what it holds (messages) goes now, not with the next call


class SideLoop:
    """An event loop on a thread of its own, whose `asyncio.to_thread` uses an executor of its own.

    What runs here may parse, import and wait as it likes: the loop that answers requests, and its default executor,
    never notice.
    """

    def __init__(self, *, threads: int, name: str) -> None:
        self._executor = DaemonExecutor(threads, name)
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(self._executor)
        self._thread = threading.Thread(target=self._run, name=f"{name}-loop", daemon=True)
        self._thread.start()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Await a coroutine there, in the caller's context; cancelling here cancels it there."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def close(self) -> None:
        """Cancel what runs and end the thread. A call that hangs in a provider is left behind."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._cancel_all)
            await asyncio.to_thread(self._thread.join, 5)

    def _run(self) -> None:
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()
            self._executor.shutdown()

    def _cancel_all(self) -> None:
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        # Two turns later: the first delivers the cancellations, the second their callbacks.
        self._loop.call_soon(self._loop.call_soon, self._loop.stop)
