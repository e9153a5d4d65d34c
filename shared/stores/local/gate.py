"""Lets readers in, and keeps them out for the moment in which the journal is emptied."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """Many may be inside at once; `alone` waits until nobody is, while newcomers wait."""

    def __init__(self) -> None:
        self._turn = threading.Condition()
        self._inside = 0
        self._shut = False

    @contextmanager
    def inside(self) -> Iterator[None]:
        """One of many."""
        with self._turn:
            self._turn.wait_for(lambda: not self._shut)
            self._inside += 1
        try:
            yield
        finally:
            with self._turn:
                self._inside -= 1
                self._turn.notify_all()

    @contextmanager
    def alone(self, patience: float) -> Iterator[bool]:
        """Nobody else; False when somebody stayed inside for longer than `patience` seconds."""
        with self._turn:
            self._shut = True
            empty = self._turn.wait_for(lambda: self._inside == 0, patience)
        try:
            yield empty
        finally:
            with self._turn:
                self._shut = False
                self._turn.notify_all()
