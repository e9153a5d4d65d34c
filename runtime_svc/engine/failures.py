"""What a provider's exception means: whether the same request may pass later. Its own text is never shown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from runtime_svc.ports import LearnFailed
from shared.errors import Unavailable

_MAY_PASS = frozenset({408, 409, 425, 429})
_LONGEST_WAIT = 300.0


def learn_failed(error: BaseException) -> LearnFailed:
    """The failure of a learn for whatever a provider's client raised.

    Clients of every provider keep the HTTP status in an attribute, and the operating system's error at the end of the
    chain of causes: no class of theirs is named here.
    """
    if isinstance(error, LearnFailed):
        return error
    if any(isinstance(cause, Unavailable) for cause in _chain(error)):
        return LearnFailed("What learning needs is slow or down.", may_pass=True)
    if (status := _status(error)) is not None:
        may_pass = status in _MAY_PASS or status >= 500
        return LearnFailed(f"The LLM provider answered {status}.", may_pass=may_pass, retry_after=_retry_after(error))
    if any(isinstance(cause, TimeoutError) for cause in _chain(error)):
        return LearnFailed("The LLM did not answer in time.", may_pass=True)
    if any(isinstance(cause, OSError) or _is_transport(cause) for cause in _chain(error)):
        return LearnFailed("The LLM provider cannot be reached.", may_pass=True)
    return LearnFailed(f"The LLM provider's client failed ({type(error).__name__}).", may_pass=False)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _is_transport(error: BaseException) -> bool:
    import httpx  # noqa: PLC0415 (mem0's dependency: a runtime without an LLM never loads it)

    return isinstance(error, httpx.TransportError)


def _status(error: BaseException) -> int | None:
    for cause in _chain(error):
        response = getattr(cause, "response", None)
        names = ("status_code", "status", "code")
        found = [getattr(holder, name, None) for holder in (cause, response) for name in names]
        if isinstance(response, Mapping):  # botocore's
            found.append(response.get("ResponseMetadata", {}).get("HTTPStatusCode"))
        for value in found:
            if isinstance(value, int) and 400 <= value <= 599:
                return value
    return None


def _retry_after(error: BaseException) -> float | None:
    for cause in _chain(error):
        headers = getattr(getattr(cause, "response", None), "headers", None)
        if isinstance(headers, Mapping):
            try:
                seconds = float(headers.get("retry-after", ""))
            except ValueError:
                return None
            return min(max(seconds, 0.0), _LONGEST_WAIT) if math.isfinite(seconds) else None
    return None
