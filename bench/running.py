"""Measurements run as the services do: on uvloop, and what is there before is not looked through as garbage."""

from __future__ import annotations

import gc
from collections.abc import Coroutine

import uvloop


def settle() -> None:
    """Call it once all is filled, as a service does before it listens."""
    gc.collect()
    gc.freeze()


def run(measurement: Coroutine[None, None, None]) -> None:
    """To its end."""
    uvloop.run(measurement)
