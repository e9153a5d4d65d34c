"""How a memory is shown: the members of contract 000, and what else is known of it when there is something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.records import Memory, Receipt, Revision
from shared.times import today

MEMBERS: Mapping[str, Any] = dict.fromkeys(("id", "memory", "created_at", "updated_at", "corrected_by", "corrected_at"))
"""The six of contract 000, before anything is known."""


def shown(memory: Memory, members: Mapping[str, Any] = MEMBERS) -> dict[str, Any]:
    """The six members of contract 000 always; run, expiry, categories and metadata where there are any.

    With `members` of a dialect, which have the six in them: those that nothing is put into here stay as they are.
    """
    # Read from the payload itself, not through the properties of Memory, into a copy that has its size from the
    # beginning: most of the cost of a list was here.
    payload, view = memory.payload, dict(members)
    stored = payload.get
    view["id"] = memory.id
    view["memory"] = str(stored("data") or "")
    view["created_at"] = created = text(stored("created_at"))
    view["updated_at"] = text(stored("updated_at")) or created
    if (who := stored("corrected_by")) is not None:
        view["corrected_by"] = text(who)
    if (at := stored("corrected_at")) is not None:
        view["corrected_at"] = text(at)
    if stored("run_id") is not None:
        view["run_id"] = memory.run_id
    if (ends := text(stored("expiration_date"))) is not None:
        view["expiration_date"] = ends
        view["expired"] = ends < today()
    if stored("categories") and (categories := memory.categories):
        view["categories"] = categories
    if metadata := memory.metadata:
        view["metadata"] = metadata
    return view


def text(value: object) -> str | None:
    """A member of a payload as it is shown: a stock client may have written anything there."""
    return value if value is None or isinstance(value, str) else str(value)


def shown_revision(revision: Revision) -> dict[str, Any]:
    """One entry of a memory's history: what became of it, by whom, for whom, when, through which door."""
    return {
        "id": revision.id,
        "memory_id": revision.memory_id,
        "event": revision.event,
        "old_memory": revision.old_words,
        "new_memory": revision.new_words,
        "person": revision.person,
        "app": revision.application,
        "actor": revision.actor,
        "on_behalf_of": revision.person if revision.actor != revision.person else None,
        "door": revision.door,
        "at": revision.at.isoformat(),
    }


def shown_receipt(receipt: Receipt) -> dict[str, Any]:
    """That something was forgotten: when, of which application, how many, by which verb, door and actor."""
    return {
        "id": receipt.id,
        "app": receipt.application,
        "verb": receipt.verb,
        "forgotten": receipt.forgotten,
        "actor": receipt.actor,
        "door": receipt.door,
        "at": receipt.at.isoformat(),
        "held_by_snapshots": receipt.held_by_snapshots,
    }
