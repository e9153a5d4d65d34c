"""What a snapshot is made of: memories, typed data and allowances, each one line of canonical JSON."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import orjson

from shared.records import Payload


class Kind(IntEnum):
    """What an entry is; a snapshot holds them in this order."""

    DATA = 0
    ALLOWANCE = 1
    SHORT_TERM = 2
    SESSION = 3
    USER = 4


MEMORIES = (Kind.SHORT_TERM, Kind.SESSION, Kind.USER)
_TOLD = {str(int(kind)): kind for kind in MEMORIES}


def kind_of(run_id: object, expiration: object, told: object = None) -> Kind:
    """The kind of a memory: what its document said, else a session's by its run, short-term by its expiry."""
    if str(told) in _TOLD:
        return _TOLD[str(told)]
    if run_id is not None:
        return Kind.SESSION
    return Kind.USER if expiration is None else Kind.SHORT_TERM


@dataclass(frozen=True, slots=True)
class Kept:
    """One memory, whole. The person is not in it: whoever restores it is."""

    kind: Kind
    id: str
    payload: Payload
    """Without `user_id`."""
    vector: bytes | None
    """Little-endian 32-bit floats; None when it has none."""
    history: Sequence[Mapping[str, Any]]
    """Oldest first: `event, old, new, actor, door, at`."""


@dataclass(frozen=True, slots=True)
class Typed:
    """One document of typed data, with every revision of it."""

    application: str
    type: str
    revisions: Sequence[Mapping[str, Any]]
    """Oldest first: `revision, data, actor, created`."""
    schema: Any = None
    shared: bool = False
    """Whether another application of the person has the same type."""
    unit: str | None = None
    """The id that an imported document gave it."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """One allowance: `reader` may use what `source` remembers, since then."""

    source: str
    reader: str
    allowed_at: str


Entry = Kept | Typed | Allowed


def line(entry: Entry) -> bytes:
    """The entry as one line of JSON, the same for the same content."""
    return orjson.dumps(record(entry), option=orjson.OPT_SORT_KEYS)


def record(entry: Entry) -> dict[str, Any]:
    """The entry as JSON."""
    match entry:
        case Kept():
            vector = None if entry.vector is None else base64.b64encode(entry.vector).decode()
            return {
                "kind": int(entry.kind),
                "id": entry.id,
                "payload": dict(entry.payload),
                "vector": vector,
                "history": [dict(one) for one in entry.history],
            }
        case Typed():
            found = {
                "kind": int(Kind.DATA),
                "application": entry.application,
                "type": entry.type,
                "revisions": [dict(one) for one in entry.revisions],
                "schema": entry.schema,
                "shared": entry.shared or None,
                "unit": entry.unit,
            }
            return {key: value for key, value in found.items() if value is not None}
        case Allowed():
            return {
                "kind": int(Kind.ALLOWANCE),
                "source": entry.source,
                "reader": entry.reader,
                "allowed_at": entry.allowed_at,
            }


def entry_of(found: Mapping[str, Any]) -> Entry:
    """What `record` made, again. Raises ValueError, KeyError or TypeError for anything else."""
    kind = Kind(found["kind"])
    if kind is Kind.DATA:
        application, name, revisions = found["application"], found["type"], found["revisions"]
        return Typed(application, name, revisions, found.get("schema"), found.get("shared", False), found.get("unit"))
    if kind is Kind.ALLOWANCE:
        return Allowed(found["source"], found["reader"], found["allowed_at"])
    return Kept(kind, found["id"], found["payload"], _floats(found["vector"]), found["history"])


def _floats(text: str | None) -> bytes | None:
    try:
        return None if text is None else base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError("a vector is base64") from error
