"""What is checked before anything is sent, with the sentences of the TypeScript client."""

from __future__ import annotations

import base64
import json
import re
import time
from typing import Any

_LETTERS = re.compile(r"[A-Za-z0-9_-]+")


def required(value: str, what: str) -> str:
    """A text, trimmed. Raises ValueError when it is missing or blank."""
    if not value or not value.strip():
        raise ValueError(f"{what} is required")
    return value.strip()


def confirmed(count: int) -> int:
    """A count that was confirmed. Raises ValueError."""
    if type(count) is not int or count < 0:
        raise ValueError(f"Forgetting needs the count confirmed, not {count}.")
    return count


def check_token(token: str) -> str:
    """A token that can hold, by its form and its times; the signature is the service's to check. Raises ValueError."""
    whole = required(token, "Authentication token")
    header, payload, signature = _parts(whole)
    if len(whole) < 100:
        raise ValueError("Invalid token format: Token is too short to be a valid JWT")
    if len(whole) > 5000:
        raise ValueError("Invalid token format: Token exceeds maximum expected length")
    if not _json(header, "header").get("alg"):
        raise ValueError("Invalid token format: Missing algorithm in JWT header")
    claims = _json(payload, "payload")
    if 0 < _seconds(claims, "exp") < time.time():
        raise ValueError("Token has expired")
    if _seconds(claims, "nbf") > time.time():
        raise ValueError("Token is not yet valid")
    if len(signature) < 20:
        raise ValueError("Invalid token format: JWT signature is too short")
    return whole


def is_expired(token: str) -> bool:
    """Whether a token says that its time is over."""
    try:
        return 0 < _seconds(_json(_parts(token.strip())[1], "payload"), "exp") < time.time()
    except ValueError:
        return False


def _parts(token: str) -> tuple[str, str, str]:
    parts = token.split(".")
    if len(parts) != 3:
        raise ValueError("Invalid token format: JWT must have three parts separated by dots")
    for number, part in enumerate(parts, 1):
        if not part:
            raise ValueError(f"Invalid token format: Part {number} is empty")
        if not _LETTERS.fullmatch(part):
            raise ValueError(f"Invalid token format: Part {number} contains invalid characters")
    return parts[0], parts[1], parts[2]


def _json(part: str, name: str) -> dict[str, Any]:
    try:
        value = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    raise ValueError(f"Invalid token format: JWT {name} is not valid base64-encoded JSON")


def _seconds(claims: dict[str, Any], name: str) -> float:
    """A time of a token; 0 when it says none."""
    value = claims.get(name)
    return float(value) if isinstance(value, int | float) else 0.0
