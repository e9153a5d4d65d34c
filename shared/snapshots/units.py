"""How a snapshot is shown: the units of contract 002."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.errors import BadValue
from shared.scope import PREFIX
from shared.snapshots.entries import Allowed, Entry, Kept, Kind, Typed
from shared.times import moment, stamp

MEMBERS = {
    Kind.DATA: "dataMemoryUnits",
    Kind.SHORT_TERM: "shortTermMemoryUnits",
    Kind.SESSION: "sessionMemoryUnits",
    Kind.USER: "userMemoryUnits",
}
"""Where the units of each kind stand in a MemoryState, in the order of the kinds."""

NAMESPACES = {Kind.SHORT_TERM: "shortTerm", Kind.SESSION: "session", Kind.USER: "user"}

TOLD = {"turnId": "turn_id", "projectId": "project_id", "tenantId": "tenant_id"}
"""What a learn request may tell in its metadata, by either name, and a unit shows."""


def shown_time(stored: object) -> str | None:
    """The contract's form of a time of ours, UTC with milliseconds; a time that came otherwise is shown as it came."""
    if not isinstance(stored, str):
        return None if stored is None else str(stored)
    try:
        at = moment(stored)
    except BadValue:
        return stored
    if stamp(at) != stored:
        return stored
    return at.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def bare(application: object) -> str | None:
    """An application as `agentRef` names it: its uid."""
    return None if application is None else str(application).removeprefix(PREFIX)


def unit_of(person: str, entry: Entry) -> dict[str, Any] | None:
    """The unit of an entry; None for an allowance, which contract 002 does not show."""
    match entry:
        case Kept():
            return _memory_unit(person, entry)
        case Typed():
            return _data_unit(person, entry)
        case Allowed():
            return None


def _data_unit(person: str, entry: Typed) -> dict[str, Any]:
    within = f"{bare(entry.application)}/" if entry.shared else ""
    return {
        "id": entry.unit or f"user:{person}/{within}{entry.type}",
        "revisions": [{"data": one["data"], "created": shown_time(one["created"])} for one in entry.revisions],
    }


def _memory_unit(person: str, entry: Kept) -> dict[str, Any]:
    payload = entry.payload
    said = payload.get("state_unit")
    told: Mapping[str, Any] = said if isinstance(said, Mapping) else {}
    ref = bare(payload.get("agent_id"))
    return {
        "id": told.get("id", entry.id),
        "created": told.get("created", shown_time(payload.get("created_at"))),
        "turnId": _told(payload, told, "turnId"),
        "sessionId": told.get("sessionId", payload.get("run_id")),
        "userId": person,
        "namespace": told.get("namespace", NAMESPACES[entry.kind]),
        "agentRef": told.get("agentRef", ref),
        "agentInfo": told.get("agentInfo", None if ref is None else {"ref": ref}),
        "projectId": _told(payload, told, "projectId"),
        "tenantId": _told(payload, told, "tenantId"),
        "text": payload.get("data") or "",
        "data": told.get("data", []),
    }


def _told(payload: Mapping[str, Any], told: Mapping[str, Any], name: str) -> str | None:
    found = told.get(name, payload.get(name, payload.get(TOLD[name])))
    return found if isinstance(found, str) else None
