"""What stands in the place of a store where mem0 is not installed: every use is refused in a sentence."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from importlib.util import find_spec
from typing import NoReturn, cast

from aiohttp import web

from runtime_svc.keys import QUEUE
from shared.errors import Unavailable
from shared.http.keys import STORE
from shared.stores.ports import MemoryStore
from shared.stores.queue import LearnQueue


def mem0_installed() -> bool:
    """Whether this runtime can learn at all; asked without importing it."""
    return find_spec("mem0") is not None


async def keep_nothing(app: web.Application) -> AsyncIterator[None]:
    """A cleanup context, after the store's: in its place, and the queue's, stands what refuses every use."""
    app[STORE] = cast("MemoryStore", _Unkept())
    app[QUEUE] = cast("LearnQueue", _Unkept())
    yield


class _Unkept:
    """Has every method by name; each raises Unavailable."""

    def __getattr__(self, _: str) -> Callable[..., Awaitable[NoReturn]]:
        async def refuse(*_: object, **__: object) -> NoReturn:
            raise Unavailable("This runtime keeps no memories: mem0 is not installed on it.", retry_after=3600)

        return refuse
