"""Times as the tables keep them: one sortable UTC form, as PostgreSQL's `runtime_memory.utc_stamp` gives it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from shared.times import stamp

_ISO = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[T ](?P<minute>[0-9]{2}:[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?)?"
    r"\s?(?P<zone>[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)
_LONGEST = 40


def utc_stamp(value: object) -> str:
    """The stored form of a payload's time; empty when it is none, which sorts last in a list that is newest first."""
    found = _ISO.fullmatch(value) if isinstance(value, str) and len(value) <= _LONGEST else None
    if found is None:
        return ""
    try:
        clock = f"{found['date']}T{found['minute'] or '00:00'}:{found['second'] or '00'}"
        exact = datetime.fromisoformat(clock).replace(tzinfo=_zone(found["zone"]))
        return stamp(exact + timedelta(microseconds=round(float(f"0.{found['fraction'] or 0}") * 1e6)))
    except (ValueError, OverflowError):
        return ""


def utc_date(value: object) -> str | None:
    """The UTC date of a payload's `expiration_date`; None when it has none that can be read: then it never expires."""
    return utc_stamp(value)[:10] or None


def _zone(text: str | None) -> timezone:
    if text is None or text in "Zz":
        return UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text[0] == "-" else offset)
