"""Time as the service writes it: UTC, ISO 8601, always six digits, so that text order is time order."""

from __future__ import annotations

from datetime import UTC, date, datetime

from shared.errors import BadValue


def now() -> datetime:
    """This instant, in UTC."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """The stored form of a moment, `2026-11-30T15:44:12.000123+00:00`; a naive one is taken as UTC."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return aware.isoformat(timespec="microseconds")


def moment(text: str) -> datetime:
    """The UTC moment of an ISO 8601 text; naive = UTC. Raises BadValue."""
    try:
        parsed = datetime.fromisoformat(text)
        return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BadValue("A time is ISO 8601, such as 2026-11-30T15:44:12Z.") from error


def today() -> str:
    """The UTC date, `2026-11-30`: what an `expiration_date` is compared with (it is inclusive)."""
    return now().date().isoformat()


def expiration(text: object) -> str:
    """The checked form of an `expiration_date`: a date `YYYY-MM-DD`, or the UTC date of a moment. Raises BadValue."""
    if not isinstance(text, str):
        raise BadValue("expiration_date is a date such as 2026-11-30.")
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return moment(text).date().isoformat()
