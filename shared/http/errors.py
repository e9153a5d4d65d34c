"""The one error shape: `{"detail": s, "error": s, "message": s, "code": "…"}`, whatever went wrong, on every route.

Where the OpenAI clients call, `error` is the object that they read: `{"message": s, "type": …, "code": …}`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog
from aiohttp import web

from shared.errors import BadValue, ServiceError, Unreadable
from shared.http.answers import dumped
from shared.logs import fault

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

CLIENT_DIALECTS = ("/v1/", "/v2/", "/v3/", "/api/v1/llm/", "/api/v1/orgs/", "/api/v1/webhooks/")
"""Paths of released clients, which know 400 for a bad value; native routes answer 422."""

OPENAI = ("/api/v1/llm/gateway/chat/", "/api/v1/llm/gateway/models")
"""Paths of the OpenAI clients, which look for the sentence in an object that is `error`."""

_SENTENCES = {
    404: "There is nothing at this address.",
    405: "This address does not answer this method.",
    413: "The body is larger than 1 MiB.",
    415: "The body is to be application/json.",
}
UNKNOWN = "Something went wrong here. It was noted."

log = structlog.get_logger()


def shape(sentence: str, code: str, **extra: object) -> dict[str, object]:
    """The body of every refusal and failure; the sentence stands where each released client looks for it."""
    return {"detail": sentence, "error": sentence, "message": sentence, "code": code, **extra}


def shape_on(path: str, sentence: str, code: str, **extra: object) -> dict[str, object]:
    """The same as the clients of a path read it."""
    body = shape(sentence, code, **extra)
    if path.startswith(OPENAI):
        body["error"] = {"message": sentence, "type": code, "param": None, "code": code}
    return body


def status_of(error: ServiceError, path: str) -> int:
    """The status of an error on a path: a bad value is 400 where released clients expect it."""
    return 400 if isinstance(error, BadValue) and path.startswith(CLIENT_DIALECTS) else error.status


@web.middleware
async def translate_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Outermost: turns every exception into the one shape. An unknown one is noted by its class only."""
    try:
        return await handler(request)
    except ServiceError as error:
        if error.status >= 500:
            log.warning("request.failed", **fault(error))
        return _refused(error, request.path)
    except web.RequestPayloadError:  # not the gzip, or not the chunks, that its headers promise
        answer = _refused(Unreadable("The body is not encoded as its headers say."), request.path)
        answer.force_close()  # nobody knows where the next request begins
        return answer
    except web.HTTPError as error:
        sentence = _SENTENCES.get(error.status, error.reason)
        code = error.reason.lower().replace(" ", "_")
        # The exception itself goes on, with our body: its own headers, `Allow` of a 405 among them, stay.
        error.text = dumped(shape_on(request.path, sentence, code)).decode()
        error.content_type = "application/json"
        raise
    except (ConnectionError, TimeoutError) as error:
        if isinstance(error, ConnectionResetError):
            raise
        log.error("request.error", **fault(error))
        return _answer(500, shape_on(request.path, UNKNOWN, "internal"), {})
    except Exception as error:  # noqa: BLE001 (the last line of defence: nothing of an unknown exception leaves)
        log.error("request.error", where=_where(error), **fault(error))
        return _answer(500, shape_on(request.path, UNKNOWN, "internal"), {})


def _refused(error: ServiceError, path: str) -> web.Response:
    body = shape_on(path, error.sentence, error.code, **error.extra)
    return _answer(status_of(error, path), body, error.headers)


def _answer(status: int, body: dict[str, object], headers: dict[str, str]) -> web.Response:
    return web.Response(status=status, body=dumped(body), content_type="application/json", headers=headers)


def _where(error: BaseException) -> str:
    """File and line of the innermost frame: where to look, without the values that were there."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "unknown"
    return f"{trace.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno}"
