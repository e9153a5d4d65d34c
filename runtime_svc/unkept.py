"""What stands in the place of a store where mem0 is not installed: every use is refused in a sentence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from typing import Any, NoReturn

from shared.errors import Unavailable


def mem0_installed() -> bool:
    """Whether this runtime can learn at all; asked without importing it."""
    return find_spec("mem0") is not None


def unkept() -> Any:
    """Stands for any port: each of its methods raises Unavailable."""
    return _Unkept()


class _Unkept:
    """Has every method by name."""

    def __getattr__(self, _: str) -> Callable[..., Awaitable[NoReturn]]:
        async def refuse(*_: object, **__: object) -> NoReturn:
            raise Unavailable("This runtime keeps no memories: mem0 is not installed on it.", retry_after=3600)

        return refuse
