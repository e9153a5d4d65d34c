"""The claims of a signed token: its times, its issuer and its audience, checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from shared.errors import NotAuthenticated
from shared.tokens import VerifiedClaims

LEEWAY = 5
"""Seconds by which `iat` and `nbf` may lie ahead of our clock. `exp` has none: a token past it is refused."""

_LATEST = 253_402_300_799
"""The last second of the year 9999: a later time is a mistake, or a token that should never end."""


def read(payload: bytes) -> Mapping[str, Any]:
    """The claims in the payload of a token, not checked yet. Raises NotAuthenticated."""
    try:
        claims = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise NotAuthenticated("This token cannot be read.") from error
    if not isinstance(claims, dict):
        raise NotAuthenticated("This token cannot be read.")
    return MappingProxyType(claims)


def checked(claims: Mapping[str, Any], *, now: float, issuer: str | None, audience: str | None) -> VerifiedClaims:
    """The claims of a token whose signature holds, when they hold now.

    Times are whole seconds as JSON numbers; `exp` is required. With an issuer or an audience configured the token must
    be from it, and for it alone. Raises NotAuthenticated.
    """
    _check_times(claims, now)
    if issuer is not None and claims.get("iss") != issuer:
        raise NotAuthenticated("This token is from another issuer.")
    if audience is not None and claims.get("aud") not in (audience, [audience]):
        raise NotAuthenticated("This token is for another audience.")
    return VerifiedClaims(claims)


def _check_times(claims: Mapping[str, Any], now: float) -> None:
    """Raises NotAuthenticated for a token that has ended, has not begun, or does not say when it ends."""
    expires = _seconds(claims, "exp")
    if expires is None:
        raise NotAuthenticated("This token does not say when it ends.")
    if expires <= now:
        raise NotAuthenticated("This token has expired.")
    for claim in ("iat", "nbf"):
        begins = _seconds(claims, claim)
        if begins is not None and begins > now + LEEWAY:
            raise NotAuthenticated("This token is not valid yet.")


def _seconds(claims: Mapping[str, Any], claim: str) -> int | None:
    """One time of a token; None when it is absent. Text, fractions, true and times without end are refused."""
    if claim not in claims:
        return None
    value = claims[claim]
    if type(value) is not int or not 0 <= value <= _LATEST:
        raise NotAuthenticated("This token's times cannot be read.")
    return value
