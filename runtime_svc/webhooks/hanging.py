"""Addresses that hung a while ago: each is tried by one sender at a time, until it answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cachetools import TTLCache

_MOST = 1000
_REMEMBERED = 900.0
"""Seconds; longer than the longest pause before a webhook is tried again."""


class Hanging:
    """What this process knows of them. An address is a whole URL: another one of its host may be well."""

    def __init__(self) -> None:
        self._hung: TTLCache[str, bool] = TTLCache(_MOST, _REMEMBERED)
        self._tried: set[str] = set()

    @contextmanager
    def turn(self, url: str) -> Iterator[bool]:
        """Whether it may be sent to now; whether it hung is learned from how the block ends."""
        if url in self._tried:
            yield False
            return
        alone = url in self._hung
        if alone:
            self._tried.add(url)
        try:
            yield True
            self._hung.pop(url, None)
        except TimeoutError:
            self._hung[url] = True
            raise
        finally:
            if alone:
                self._tried.discard(url)
