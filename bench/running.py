"""Measurements run as the services do: on uvloop, and what is there at the start is not looked through as garbage."""

from __future__ import annotations

import gc
from collections.abc import Coroutine

import uvloop


def run(measurement: Coroutine[None, None, None]) -> None:
    """To its end."""
    gc.collect()
    gc.freeze()
    uvloop.run(measurement)
