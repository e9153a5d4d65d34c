"""How this dialect shows a memory, its history, an event and an entity: every member that its clients read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from runtime_svc.mem0_dialect.paging import Paging
from shared.entities import Entity
from shared.records import Memory, Outcome, Revision
from shared.scope import PREFIX
from shared.stores.queue import LearnEvent

QUEUED = "Memory processing has been queued for background execution"


def shown(memory: Memory, *, score: float | None = None, fields: Sequence[str] | None = None) -> dict[str, Any]:
    """A memory. A fact is the user's or the agent's: never both; `metadata` and `categories` are always there."""
    agent = memory.payload.get("inner_agent")
    view = {
        "id": memory.id,
        "memory": memory.words,
        "user_id": memory.person if agent is None else None,
        "agent_id": agent,
        "app_id": memory.application.removeprefix(PREFIX),
        "run_id": memory.run_id,
        "session_id": memory.run_id,
        "actor_id": memory.payload.get("actor_id"),
        "hash": memory.hash,
        "metadata": memory.metadata,
        "categories": memory.categories,
        "immutable": memory.immutable,
        "expiration_date": memory.expiration_date,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
    }
    if score is not None:
        view["score"] = round(score, 6)
    return view if not fields else {name: value for name, value in view.items() if name in {"id", *fields}}


def shown_revision(revision: Revision, memory: Memory) -> dict[str, Any]:
    """One entry of a memory's history."""
    return {
        "id": revision.id,
        "memory_id": revision.memory_id,
        "input": [],
        "old_memory": revision.old_words,
        "new_memory": revision.new_words,
        "user_id": shown(memory)["user_id"],
        "event": revision.event,
        "metadata": memory.metadata,
        "categories": memory.categories,
        "created_at": revision.at.isoformat(),
        "updated_at": revision.at.isoformat(),
    }


def stored(outcome: Outcome, event_id: str | None) -> dict[str, Any]:
    """What became of one thing that was learned at once."""
    return {
        "id": outcome.id,
        "event": outcome.event,
        "memory": outcome.words,
        "data": {"memory": outcome.words},
        "status": "SUCCEEDED",
        "event_id": event_id,
        "message": "Memory stored",
    }


def queued(event: LearnEvent, words: str) -> dict[str, Any]:
    """What was accepted and will be learned: its event stands for it."""
    return {
        "id": event.id,
        "event": "ADD",
        "data": {"memory": words},
        "status": event.status,
        "event_id": event.id,
        "message": QUEUED,
    }


def shown_event(event: LearnEvent, memories: Mapping[str, Memory]) -> dict[str, Any]:
    """An event, with the words of what is still remembered of it."""
    ended = event.completed_at
    latency = None if ended is None else round((ended - event.created_at).total_seconds() * 1000, 3)
    return {
        "id": event.id,
        "event_type": "ADD",
        "status": event.status,
        "payload": {},
        "metadata": {},
        "results": [_result(one.id, one.event, memories.get(one.id)) for one in event.results],
        "error": event.error,
        "graph_status": None,
        "created_at": event.created_at.isoformat(),
        "updated_at": (ended or event.started_at or event.created_at).isoformat(),
        "started_at": None if event.started_at is None else event.started_at.isoformat(),
        "completed_at": None if ended is None else ended.isoformat(),
        "latency": latency,
    }


def _result(memory_id: str, event: str, memory: Memory | None) -> dict[str, Any]:
    words = None if memory is None else memory.words
    user = None if memory is None else shown(memory)["user_id"]
    return {"id": memory_id, "event": event, "user_id": user, "memory": words, "data": {"memory": words}}


def entity_number(entity: Entity) -> int:
    """The number by which old clients name an entity: always the same for the same kind and name."""
    return int.from_bytes(hashlib.sha256(f"{entity.kind}:{entity.name}".encode()).digest()[:6], "big")


def shown_entities(entities: Iterable[Entity], owner: str, paging: Paging) -> dict[str, Any]:
    """A page of the entities, in the envelope that clients read, and how many there are of each kind in all."""
    found = list(entities)
    totals = {f"total_{kind}s": sum(one.kind == kind for one in found) for kind in ("user", "agent", "app", "run")}
    results: list[dict[str, Any]] = [
        {
            "id": entity_number(one),
            "name": one.name,
            "type": one.kind,
            "total_memories": one.total,
            "created_at": one.first_at,
            "updated_at": one.last_at,
            "owner": owner,
            "metadata": {},
        }
        for one in found[paging.offset : paging.offset + paging.size]
    ]
    return {**paging.envelope(len(found), results), **totals}
