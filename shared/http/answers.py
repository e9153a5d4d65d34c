"""JSON answers. Never an empty body: released clients parse each one."""

from __future__ import annotations

from typing import Any

import orjson
from aiohttp import web


def dumped(value: Any) -> bytes:
    """JSON as UTF-8."""
    return orjson.dumps(value)


def answer(value: Any, *, status: int = 200) -> web.Response:
    """A JSON answer; what a person is told of themselves is not kept by caches on the way."""
    return web.Response(
        status=status,
        body=dumped(value),
        content_type="application/json",
        charset="utf-8",
        headers={"Cache-Control": "no-store"},
    )
