"""Waiting for what happens, never for a time to pass: the outcome of a test does not depend on the machine's speed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

FOR_EVER = 100.0
"""Seconds after which a test that waits is given up: far more than anything takes that does happen."""


async def until(
    check: Callable[[], Any], within: float = FOR_EVER, *, else_say: str = "it did not come to that"
) -> None:
    """Return when something holds; it may be a coroutine function. Otherwise the test fails, and says so."""
    try:
        async with asyncio.timeout(within) as limit:
            while True:
                found = check()
                if await found if asyncio.iscoroutine(found) else found:
                    return
                await asyncio.sleep(0.01)
    except TimeoutError as error:
        if limit.expired():
            raise AssertionError(else_say) from error
        raise


def wait_until(check: Callable[[], Any], within: float = FOR_EVER) -> None:
    """The same, where there is no event loop."""
    deadline = time.monotonic() + within
    while not check():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.01)


class Gate:
    """Where the answers of a stand-in wait for as long as a test holds them; open until then."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()
        self.waiting = 0

    def hold(self) -> None:
        """Who comes from now on waits."""
        self._open.clear()

    def let_go(self) -> None:
        """Nobody waits any longer."""
        self._open.set()

    async def passed(self) -> None:
        """Return when it is open."""
        self.waiting += 1
        try:
            await self._open.wait()
        finally:
            self.waiting -= 1

    async def reached(self, count: int = 1) -> None:
        """Return when so many wait."""
        await until(lambda: self.waiting >= count)
