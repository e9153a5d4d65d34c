"""Units of contract 002 from elsewhere, made into entries: what they say is kept, and shown again as it came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from shared.documents import check_json
from shared.errors import BadValue
from shared.payloads import Details, new_payload
from shared.records import Door
from shared.scope import PREFIX, application_key, unusable
from shared.snapshots.checking import check_revision, of_a_size
from shared.snapshots.entries import Kept, Kind, Typed
from shared.snapshots.sealing import memory_id
from shared.times import moment, stamp
from shared.wording import LEARNED_LONGEST, check_text

IMPORTED = f"{PREFIX}imported"
"""The application of what came without one."""

MOST_REVISIONS_TAKEN = 1000

_LONGEST_ID = 512
_AS_GIVEN = ("turnId", "projectId", "tenantId", "namespace", "agentRef")


def data_unit(person: str, unit: Mapping[str, Any]) -> Typed:
    """A unit of typed data, `user:<uid>/<type>`, perhaps with an application before the type. Raises BadValue."""
    told = _text(unit, "id", most=_LONGEST_ID, needed=True) or ""
    application, _, name = told.partition("/")[2].rpartition("/")
    if unusable(name) is not None or not told.startswith("user:"):
        raise BadValue("A data unit's id is user:<uid>/<type>. Nothing was taken in.")
    revisions = unit.get("revisions")
    if not isinstance(revisions, list) or not 0 < len(revisions) <= MOST_REVISIONS_TAKEN:
        raise BadValue(f"A data unit has 1 to {MOST_REVISIONS_TAKEN} revisions. Nothing was taken in.")
    return Typed(
        application_key(PREFIX + application) if application else IMPORTED,
        name,
        [_revision(person, number, one) for number, one in enumerate(revisions, 1)],
        unit=told,
    )


def _revision(person: str, number: int, told: object) -> dict[str, Any]:
    if not isinstance(told, Mapping) or told.get("data") is None:
        raise BadValue("A revision has data. Nothing was taken in.")
    check_json(told["data"], "A revision's data")
    check_revision(told["data"])
    created, _ = _time(told)
    return {"revision": number, "data": told["data"], "actor": person, "created": created}


def memory_unit(person: str, kind: Kind, unit: Mapping[str, Any]) -> Kept:
    """A unit of a namespace, as a memory that was learned then. Raises BadValue."""
    told = _text(unit, "id", most=_LONGEST_ID, needed=True) or ""
    words = _text(unit, "text", most=LEARNED_LONGEST, needed=True) or ""
    if not words.strip():
        raise BadValue("A unit says something: its text is empty. Nothing was taken in.")
    created, learned = _time(unit)
    session = _text(unit, "sessionId")
    details = Details(run_id=session if kind is Kind.SESSION else None, learned_at=moment(created))
    payload = new_payload(words, details, now=moment(created)) | {
        "agent_id": _application(_text(unit, "agentRef")),
        "state_unit": {**_as_given(unit, kind), "id": told, "created": created, "sessionId": session},
    }
    change = {"event": "ADD", "old": None, "new": words, "actor": person, "door": str(Door.STATE), "at": learned}
    return of_a_size(Kept(kind, _id(person, kind, told), payload, None, [change]))


def _as_given(unit: Mapping[str, Any], kind: Kind) -> dict[str, Any]:
    given: dict[str, Any] = {"kind": int(kind)} | {name: _text(unit, name) for name in _AS_GIVEN if name in unit}
    for name, shape in (("agentInfo", Mapping), ("data", list)):
        if name in unit:
            if unit[name] is not None and not isinstance(unit[name], shape):
                raise BadValue(f"A unit's {name} cannot be read. Nothing was taken in.")
            check_json(unit[name], f"A unit's {name}")
            given[name] = unit[name]
    return given


def _id(person: str, kind: Kind, told: str) -> str:
    try:
        if str(UUID(told)) == told:
            return told
    except ValueError:
        pass
    return memory_id(person, f"{int(kind)}/{told}")


def _application(ref: str | None) -> str:
    if ref is None:
        return IMPORTED
    return application_key(ref if ref.startswith(PREFIX) else PREFIX + ref)


def _time(unit: Mapping[str, Any]) -> tuple[str, str]:
    """A time as it came, and as we write it."""
    created = _text(unit, "created", most=40, needed=True) or ""
    return created, stamp(moment(created))


def _text(unit: Mapping[str, Any], name: str, *, most: int = 255, needed: bool = False) -> str | None:
    value = unit.get(name)
    if value is None and not needed:
        return None
    if not isinstance(value, str) or not (needed <= len(value) <= most):
        raise BadValue(f"A unit's {name} is text of at most {most} characters. Nothing was taken in.")
    check_text(value, f"A unit's {name}")
    return value
