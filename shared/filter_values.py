"""The values that a filter may compare with, each in a form that every engine can hold, or a sentence why not."""

from __future__ import annotations

import math
import uuid
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import cast

from shared.errors import BadValue
from shared.filters import Scalar
from shared.times import moment, stamp

LONGEST_TEXT = 2_000
LONGEST_LIST = 1_000
_LARGEST = 2**53  # every engine holds whole numbers exactly up to here


def plain_list(value: object, name: str) -> list[object]:
    """A list, not huge; one text stands for a list of it."""
    values = value if isinstance(value, list) else [value] if isinstance(value, str) else None
    if values is None or len(values) > LONGEST_LIST:
        raise BadValue(f"{name} with in takes a list of at most {LONGEST_LIST} values.")
    return cast("list[object]", values)


def plain_text(value: object, name: str) -> str:
    """Text that every engine can hold: not empty, not huge, no NUL, no lone surrogate."""
    if not isinstance(value, str) or not value:
        raise BadValue(f"{name} is compared with text that is not empty.")
    if len(value) > LONGEST_TEXT:
        raise BadValue(f"{name} is compared with at most {LONGEST_TEXT} characters.")
    return _holdable(value)


def plain_scalar(value: object) -> Scalar:
    """Text, a number that every engine holds exactly, or a boolean."""
    if isinstance(value, str):
        return plain_text(value, "metadata") if value else value
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and abs(value) <= _LARGEST and math.isfinite(value):
        return value
    raise BadValue("metadata is compared with text, a number up to 2^53, true or false.")


def _holdable(text: str) -> str:
    if "\x00" in text or any("\ud800" <= c <= "\udfff" for c in text):
        raise BadValue("A filter holds a NUL character or a lone surrogate.")
    return text


def canonical_uuid(text: str) -> str | None:
    """An id as the stores write it; None when it is no UUID."""
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return None


def _day(value: object, name: str) -> date | None:
    """The day that a date-only text names; None for anything else."""
    if not isinstance(value, str) or len(value) != len("2026-11-30"):
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise BadValue(f"{name} is compared with ISO 8601, such as 2026-11-30 or 2026-11-30T15:44:12Z.") from None


def _instant(value: object, name: str) -> datetime:
    """An ISO 8601 text, naive = UTC, or the seconds of the epoch."""
    if isinstance(value, str):
        return moment(plain_text(value, name))
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError, OSError):
            return datetime.fromtimestamp(value, UTC)
    raise BadValue(f"{name} is compared with an ISO 8601 time or seconds since 1970.")


def _next(at: datetime, step: timedelta) -> datetime | None:
    try:
        return at + step
    except OverflowError:
        return None


def time_span(value: object, name: str) -> tuple[str, str | None]:
    """The first moment of what a value names, and the first one after it (None: there is none), in stored form."""
    day = _day(value, name)
    start = _instant(value, name) if day is None else datetime(day.year, day.month, day.day, tzinfo=UTC)
    end = _next(start, timedelta(microseconds=1) if day is None else timedelta(days=1))
    return stamp(start), None if end is None else stamp(end)


def date_span(value: object, name: str) -> tuple[str, str | None]:
    """The UTC date that a value names, and the next one (None: there is none)."""
    day = _day(value, name) or _instant(value, name).date()
    end = _next(datetime(day.year, day.month, day.day, tzinfo=UTC), timedelta(days=1))
    return day.isoformat(), None if end is None else end.date().isoformat()
