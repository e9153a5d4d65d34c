"""What is no HTTP that can be read: refused in the one shape, and never quoted, for it may hold a token or words."""

from __future__ import annotations

import sys

import structlog
from aiohttp import web
from aiohttp.http_exceptions import LineTooLong
from aiohttp.web_protocol import RequestHandler

from shared.http.answers import dumped
from shared.http.errors import UNKNOWN, shape
from shared.logs import fault

_TOO_LONG = "The address, or a header, is longer than 8190 bytes."
_NOT_HTTP = "That is no HTTP request that can be read."

log = structlog.get_logger()


class Runner(web.AppRunner):
    """Runs an application; what never becomes a request to it is answered here."""

    async def _make_server(self) -> web.Server:
        made = await super()._make_server()
        return _Server(made.request_handler, request_factory=made.request_factory, access_log=None)


class _Server(web.Server):
    def __call__(self) -> RequestHandler:
        return _Connection(self, loop=self._loop, **self._kwargs)


class _Connection(RequestHandler):
    __slots__ = ()

    def log_exception(self, *args: object, **more: object) -> None:
        """Of what fails below the middlewares, the class: its text may quote what was sent."""
        del args
        error = more.get("exc_info")
        error = error if isinstance(error, BaseException) else sys.exception()
        log.warning("connection.failed", **({} if error is None else fault(error)))

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """The answer to what could not be read; aiohttp's own quotes it, and logs it."""
        del message
        self.log_exception(exc_info=exc)
        if request.writer.output_size > 0:
            raise ConnectionError("An answer was begun already.")
        sentence = UNKNOWN if status >= 500 else _TOO_LONG if isinstance(exc, LineTooLong) else _NOT_HTTP
        body = shape(sentence, "internal" if status >= 500 else "unreadable")
        response = web.Response(status=status, body=dumped(body), content_type="application/json")
        response.force_close()
        return response
