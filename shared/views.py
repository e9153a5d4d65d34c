"""How a memory is shown: the members of contract 000, and what else is known of it when there is something."""

from __future__ import annotations

from typing import Any

from shared.records import Memory, Receipt, Revision
from shared.times import today


def shown(memory: Memory) -> dict[str, Any]:
    """The six members of contract 000 always; run, expiry, categories and metadata where there are any."""
    view: dict[str, Any] = {
        "id": memory.id,
        "memory": memory.words,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "corrected_by": memory.corrected_by,
        "corrected_at": memory.corrected_at,
    }
    if memory.run_id is not None:
        view["run_id"] = memory.run_id
    if memory.expiration_date is not None:
        view["expiration_date"] = memory.expiration_date
        view["expired"] = memory.expiration_date < today()
    if memory.categories:
        view["categories"] = memory.categories
    if metadata := memory.metadata:
        view["metadata"] = metadata
    return view


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
