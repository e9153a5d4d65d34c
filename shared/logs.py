"""Structured logs on standard output: one JSON line an event, never a memory's words, a token or a key."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

import orjson
import structlog

_SILENT = ("aiohttp.access", "mem0", "httpx", "httpcore", "openai", "asyncio", "mcp")
"""Loggers of libraries that would write addresses, bodies or exceptions of their own."""


def configure(service: str) -> None:
    """Set up structlog once, in `__main__`; every line carries the service's name."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(_line),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.BytesLoggerFactory(sys.stdout.buffer),
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.bind_contextvars(service=service)
    for name in _SILENT:
        library = logging.getLogger(name)
        library.handlers = [logging.NullHandler()]
        library.propagate = False


def _line(event: Any, **options: Any) -> bytes:
    """An event as JSON; one that has what UTF-8 cannot say, as the name of a file can, is escaped."""
    try:
        return orjson.dumps(event, **options)
    except TypeError:
        return json.dumps(event, **options).encode()


def fault(error: BaseException) -> dict[str, str]:
    """What may be logged of an exception: its class and SQLSTATE, and those of its cause. Never its text."""
    cause = error.__cause__
    found = {"error": type(error).__name__}
    if cause is not None:
        found["cause"] = type(cause).__name__
    for one in (error, cause):
        if isinstance(state := getattr(one, "sqlstate", None), str):
            found["sqlstate"] = state
    return found
