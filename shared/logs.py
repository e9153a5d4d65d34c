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

_NOTED = "aiohttp"
"""Whose faults an operator is to know of: it quotes the part of a request that it cannot read, a token or words."""


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
    noted = _Noted(logging.WARNING)
    logging.getLogger(_NOTED).handlers = [noted]
    logging.getLogger(_NOTED).propagate = False
    logging.lastResort = noted  # of every library that nobody thought of


class _Noted(logging.Handler):
    """Says that a library had something to say, and the class of the exception: never its text."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[0] if record.exc_info else None
        found = {} if error is None else {"error": error.__name__}
        structlog.get_logger().warning("library", logger=record.name, level_there=record.levelname, **found)


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
