"""Whether one memory meets a filter, in Python: what the two SQL forms are held to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from shared.filters import (
    All,
    Among,
    Between,
    Clock,
    Contains,
    Equals,
    Filter,
    Holds,
    Node,
    Not,
    Present,
    Scalar,
    Some,
    fold,
)
from shared.records import Payload
from shared.stamps import utc_date, utc_stamp


def matches(where: Filter | None, payload: Payload, memory_id: str) -> bool:
    """Whether a memory meets the filter; every memory meets None."""
    return where is None or _holds(where.root, payload, memory_id)


def _holds(node: Node, payload: Payload, memory_id: str) -> bool:  # noqa: PLR0911 - one line for each kind of node
    match node:
        case All(nodes):
            return all(_holds(one, payload, memory_id) for one in nodes)
        case Some(nodes):
            return any(_holds(one, payload, memory_id) for one in nodes)
        case Not(inner):
            return not _holds(inner, payload, memory_id)
        case Equals(key, values):
            return _equals_one_of(payload.get(key), values)
        case Present(key):
            return payload.get(key) is not None
        case Holds(key, values):
            return any(_equals_one_of(item, values) for item in _items(payload.get(key)))
        case Contains(key, needle, folded):
            return any(needle in (fold(text) if folded else text) for text in _texts(payload.get(key)))
        case Between(clock, start, end):
            return _between(_time(clock, payload), start, end)
        case Among(ids):
            return memory_id in ids


def _equals_one_of(value: Any, values: Iterable[Scalar]) -> bool:
    return any(_kind(value) == _kind(one) and value == one for one in values)


def _kind(value: Any) -> type | None:
    """Numbers are of one kind, and booleans are no numbers; None for lists, objects and null."""
    if isinstance(value, bool):
        return bool
    if isinstance(value, int | float):
        return float
    return str if isinstance(value, str) else None


def _items(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [item for item in _items(value) if isinstance(item, str)]


def _time(clock: Clock, payload: Payload) -> str | None:
    if clock == "expiration_date":
        return utc_date(payload.get("expiration_date"))
    created = utc_stamp(payload.get("created_at")) or None
    return created if clock == "created_at" else utc_stamp(payload.get("updated_at")) or created


def _between(time: str | None, start: str | None, end: str | None) -> bool:
    return time is not None and (start is None or time >= start) and (end is None or time < end)
