"""What a webhook is told, read when it is sent: words that were forgotten meanwhile are not said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runtime_svc.webhooks.registered import Webhook, webhook_of
from shared.client_records import WEBHOOK, ClientRecords
from shared.records import Event, Memory
from shared.scope import Everything, Scope
from shared.stores.outbox import Delivery, Tell
from shared.stores.ports import MemoryStore

_EVENTS = {Tell.ADD: Event.ADD, Tell.UPDATE: Event.UPDATE, Tell.DELETE: Event.DELETE}


@dataclass(frozen=True, slots=True)
class Message:
    """What is posted where."""

    webhook: Webhook
    body: dict[str, Any]


async def message_of(delivery: Delivery, records: ClientRecords, store: MemoryStore) -> Message | None:
    """What there is to say; None when the webhook was removed or asks for it no more, or the memory is forgotten."""
    record = await records.get(Everything(delivery.person), WEBHOOK, delivery.webhook_id)
    webhook = None if record is None else webhook_of(record)
    if webhook is None or delivery.tell not in webhook.events:
        return None
    said = await _said(delivery, store)
    return None if said is None else Message(webhook, {**said, "delivery_id": delivery.id})


async def _said(delivery: Delivery, store: MemoryStore) -> dict[str, Any] | None:
    memory_id = delivery.memory_id
    if delivery.tell is Tell.DELETE or memory_id is None:
        return {"event_details": {"id": memory_id, "event": Event.DELETE, "data": {"memory": None}}}
    memory = await store.get(Scope(delivery.person, delivery.application), memory_id)
    if memory is None:
        return None
    return _sorted(memory) if delivery.tell is Tell.CATEGORIZE else _changed(memory, _EVENTS[delivery.tell])


def _changed(memory: Memory, event: Event) -> dict[str, Any]:
    return {"event_details": {"id": memory.id, "event": event, "data": {"memory": memory.words}}}


def _sorted(memory: Memory) -> dict[str, Any] | None:
    if not memory.categories:
        return None
    details = {"event": "CATEGORIZE", "memory_id": memory.id, "categories": memory.categories}
    return {**details, "event_details": details}
