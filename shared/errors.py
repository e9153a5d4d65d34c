"""The errors of the service: each carries the HTTP status and the code that the edge answers with."""

from __future__ import annotations

from typing import ClassVar


class ServiceError(Exception):
    """Something the caller is told in a sentence. Its text never holds a memory, a token or a key."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "error"

    def __init__(self, sentence: str, *, headers: dict[str, str] | None = None, **extra: object) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.headers = headers or {}
        self.extra = extra
        """Further members of the answer's body, such as `total`."""


class CannotStartError(Exception):
    """Why a service refuses to start, in a sentence that names what to change and never quotes a secret."""


class Unreadable(ServiceError):
    """The request cannot be read: not JSON, not UTF-8, not an object."""

    status = 400
    code = "unreadable"


class BadValue(ServiceError):
    """A value was read and does not fit. 422 on native routes, 400 on the client dialects."""

    status = 422
    code = "bad_value"


class NotAuthenticated(ServiceError):
    """No valid credential came."""

    status = 401
    code = "not_authenticated"


class NotAllowed(ServiceError):
    """The credential is valid and does not allow this."""

    status = 403
    code = "not_allowed"


class NotFound(ServiceError):
    """Unknown, or somebody else's: the two answer alike."""

    status = 404
    code = "not_found"


class Conflict(ServiceError):
    """The state of what is remembered does not allow this."""

    status = 409
    code = "conflict"


class GrewMeanwhile(Conflict):
    """Forget-all was confirmed for fewer memories than there are. Nothing was forgotten."""

    code = "grew_meanwhile"

    def __init__(self, confirmed: int, total: int) -> None:
        super().__init__(
            f"It remembers more than the {confirmed} you confirmed now. Nothing was forgotten.", total=total
        )
        self.total = total


class ForgottenMeanwhile(Conflict):
    """What was to be written was accepted before a forget-all, an erase or a restore: it is not written."""

    code = "forgotten_meanwhile"


class TooLarge(ServiceError):
    """The body is over the limit."""

    status = 413
    code = "too_large"


class WrongMediaType(ServiceError):
    """The body is not of a type that the route reads."""

    status = 415
    code = "wrong_media_type"


class TooMany(ServiceError):
    """The caller asks for more than is served at once; `Retry-After` says when to come back."""

    status = 429
    code = "too_many"

    def __init__(self, sentence: str, *, retry_after: int) -> None:
        super().__init__(sentence, headers={"Retry-After": str(retry_after)})


class Unavailable(ServiceError):
    """A store, a provider or a peer is slow or down; the same request may pass later."""

    status = 503
    code = "unavailable"

    def __init__(self, sentence: str, *, retry_after: int = 1) -> None:
        super().__init__(sentence, headers={"Retry-After": str(retry_after)})


class OurFault(ServiceError):
    """A store refused what it was asked, and would again: a mistake here. Where it was is in the log."""

    status = 500
    code = "internal"

    def __init__(self) -> None:
        super().__init__("Something went wrong here. It was noted.")
