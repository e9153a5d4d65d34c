"""JSON that a client gives to be kept: checked against what every store can hold."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from shared.errors import BadValue
from shared.wording import check_text

DEEPEST = 16
_INTEGERS = range(-(2**63), 2**64)


def check_document(value: object, subject: str, *, most: int) -> None:
    """Raises BadValue for more than so many bytes of JSON, and for what no store can keep.

    The size first: to look at each of a million values holds everybody up.
    """
    try:
        size = len(orjson.dumps(value))
    except TypeError:
        size = 0  # it holds what cannot be kept, and is told why
    if size > most:
        raise BadValue(f"{subject} is at most {most // 1024} KiB.")
    check_json(value, subject)


def check_json(value: object, subject: str, *, depth: int = 0) -> None:
    """Raises BadValue for text or numbers that no store can keep, and for what is nested too deep."""
    if depth > DEEPEST:
        raise BadValue(f"{subject} is nested at most {DEEPEST} deep.")
    if isinstance(value, str):
        check_text(value, subject)
    elif isinstance(value, dict | Mapping):
        for key, member in value.items():
            check_text(str(key), subject)
            check_json(member, subject, depth=depth + 1)
    elif isinstance(value, list | tuple):
        for member in value:
            check_json(member, subject, depth=depth + 1)
    elif isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):  # noqa: PLR0124 (NaN)
        raise BadValue(f"{subject} has a number that is not finite.")
    elif isinstance(value, int) and value not in _INTEGERS:
        raise BadValue(f"{subject} has a whole number of more than 64 bits.")
