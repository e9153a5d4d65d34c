"""What goes wrong, as errors of their own kind; none holds a token, and none quotes what was sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class NetworkError(Exception):
    """The service was not reached, or the connection broke."""


class RunResponseError(Exception):
    """The service refused or failed; its text is the service's sentence."""

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        """`body` is the whole answer: a 409 of forget-all carries the `total` there is now."""
        super().__init__(_sentence(status, body))
        self.status = status
        self.body = body

    @property
    def code(self) -> str | None:
        """The machine-readable reason, where the service gives one."""
        code = self.body.get("code")
        return code if isinstance(code, str) else None

    @property
    def detail(self) -> Any:
        return self.body.get("detail")


class TokenExpiredError(RunResponseError):
    """The token's time is over: sign in again."""


def _sentence(status: int, body: Mapping[str, Any]) -> str:
    detail = body.get("detail")
    nested = detail.get("message") if isinstance(detail, Mapping) else None
    for sentence in (body.get("message"), detail, nested):
        if isinstance(sentence, str) and sentence:
            return sentence
    return f"Invalid response: {status}"
