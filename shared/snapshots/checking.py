"""Checks the entries of an exported document: whatever it says, what is taken in can be kept and is the person's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import numpy as np
import orjson

from shared.documents import check_json
from shared.errors import BadValue, TooLarge
from shared.records import Door, Event
from shared.schemas import check_schema
from shared.scope import application_key, unusable
from shared.snapshots.entries import Allowed, Entry, Kept, Typed, entry_of
from shared.times import moment
from shared.typed_data import LARGEST

LARGEST_PAYLOAD = 256 * 1024
"""Bytes of one memory beside its vector: far more than a learn may say."""

_WIDEST = 16_000
_EVENTS = frozenset(Event)
_DOORS = frozenset(Door)


def checked(found: object) -> Entry:
    """An entry of an export. Raises ValueError, TypeError or KeyError for one that no export has, or BadValue."""
    if not isinstance(found, Mapping):
        raise TypeError
    check_json(found, "An entry", depth=-2)
    entry = entry_of(found)
    match entry:
        case Kept():
            return _memory(entry)
        case Typed():
            return _typed(entry)
        case Allowed():
            return _allowance(entry)


def _memory(entry: Kept) -> Entry:
    if str(UUID(entry.id)) != entry.id or not isinstance(entry.payload, dict) or "user_id" in entry.payload:
        raise ValueError
    told = entry.payload.get("state_unit")
    if told is not None and (not isinstance(told, dict) or told.get("kind") != entry.kind):
        raise ValueError
    for name in ("data", "agent_id", "run_id", "created_at", "updated_at", "hash", "text_lemmatized"):
        if not isinstance(entry.payload.get(name), str | None):
            raise TypeError
    if entry.vector is not None:
        floats = np.frombuffer(entry.vector, dtype="<f4")
        if not 0 < len(floats) <= _WIDEST or not np.isfinite(floats).all():
            raise ValueError
    for change in entry.history:
        _check_change(change)
    return of_a_size(entry)


def of_a_size(entry: Kept) -> Kept:
    """The entry. Raises TooLarge for one that a list of a thousand could not be made of."""
    if len(orjson.dumps(dict(entry.payload))) > LARGEST_PAYLOAD:
        raise TooLarge(f"A memory in it is larger than {LARGEST_PAYLOAD // 1024} KiB. Nothing was taken in.")
    return entry


def _check_change(change: Mapping[str, object]) -> None:
    if change.keys() != {"event", "old", "new", "actor", "door", "at"}:
        raise KeyError
    if change["event"] not in _EVENTS or change["door"] not in _DOORS:
        raise ValueError
    for name in ("old", "new"):
        if not isinstance(change[name], str | None):
            raise TypeError
    _usable(change["actor"])
    moment(_usable(change["at"]))


def _typed(entry: Typed) -> Entry:
    application_key(entry.application)
    _usable(entry.type)
    told: tuple[object, object] = (entry.shared, entry.unit)
    if not isinstance(told[0], bool) or not isinstance(told[1], str | None):
        raise TypeError
    if entry.schema is not None:
        check_schema(entry.schema)
    last = 0
    for one in _list(entry.revisions):
        if one.keys() != {"revision", "data", "actor", "created"} or one["data"] is None:
            raise KeyError
        check_revision(one["data"])
        if type(one["revision"]) is not int or not last < one["revision"] < 2**31:
            raise ValueError
        last = one["revision"]
        _usable(one["actor"])
        moment(_usable(one["created"]))
    return entry


def check_revision(data: object) -> None:
    """Raises TooLarge for a document that is larger than one may be kept."""
    if len(orjson.dumps(data)) > LARGEST:
        raise TooLarge(f"A revision's data is at most {LARGEST // 1024} KiB. Nothing was taken in.")


def _allowance(entry: Allowed) -> Entry:
    application_key(entry.source)
    application_key(entry.reader)
    moment(_usable(entry.allowed_at))
    if entry.source == entry.reader:
        raise ValueError
    return entry


def _list(found: object) -> Sequence[Mapping[str, object]]:
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise TypeError
    return found


def _usable(value: object) -> str:
    if unusable(value) is not None:
        raise BadValue("A name or a time in it cannot be used. Nothing was taken in.")
    return str(value)
