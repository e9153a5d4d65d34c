"""A store that tells webhooks what changed: everything else is the store's own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import structlog

from runtime_svc.webhooks.delivery import Delivery, Message, Read
from runtime_svc.webhooks.registered import KIND, Webhook, webhook_of
from shared.client_records import ClientRecords
from shared.errors import ServiceError
from shared.filters import Filter
from shared.forgotten import Forgotten
from shared.logs import fault
from shared.records import By, Change, Event, Memory, Outcome, Patch
from shared.scope import Everything, Reach, Scope
from shared.stores.ports import Accepted, MemoryStore

log = structlog.get_logger()

_KINDS = {Event.ADD: "memory_add", Event.UPDATE: "memory_update", Event.DELETE: "memory_delete"}


def announcing(store: MemoryStore, records: ClientRecords, delivery: Delivery) -> MemoryStore:
    """The store, with what changes through it told to the person's webhooks."""
    return cast("MemoryStore", _Announcing(store, records, delivery))


class _Announcing:
    def __init__(self, store: MemoryStore, records: ClientRecords, delivery: Delivery) -> None:
        self._store = store
        self._records = records
        self._delivery = delivery

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(
        self, scope: Scope, changes: Sequence[Change], by: By, *, accepted: Accepted | None = None
    ) -> list[Outcome]:
        outcomes = await self._store.commit(scope, changes, by, accepted=accepted)
        await self._tell(scope, *((one.id, one.event) for one in outcomes))
        return outcomes

    async def correct(self, reach: Reach, memory_id: str, patch: Patch, by: By) -> Memory | None:
        after = await self._store.correct(reach, memory_id, patch, by)
        if after is not None:
            await self._tell(Scope(reach.person, after.application), (after.id, Event.UPDATE))
        return after

    async def forget(self, reach: Reach, memory_id: str, by: By) -> Forgotten:
        told = await self._webhooks(reach.person)
        before = await self._store.get(reach, memory_id) if told else None
        forgotten = await self._store.forget(reach, memory_id, by)
        if forgotten and before is not None:
            await self._tell(Scope(reach.person, before.application), (before.id, Event.DELETE))
        return forgotten

    async def forget_all(
        self, reach: Reach, by: By, *, confirmed: int | None, where: Filter | None = None
    ) -> Forgotten:
        forgotten = await self._store.forget_all(reach, by, confirmed=confirmed, where=where)
        if forgotten:
            application = reach.application if isinstance(reach, Scope) else ""
            await self._tell(Scope(reach.person, application), (None, Event.DELETE))
        return forgotten

    async def _webhooks(self, person: str) -> list[Webhook]:
        return [webhook_of(record) for record in await self._records.of(Everything(person), KIND)]

    async def _tell(self, scope: Scope, *changes: tuple[str | None, Event]) -> None:
        """Post to each webhook that listens. A change that was made stands, whatever becomes of the telling."""
        try:
            webhooks = await self._webhooks(scope.person) if changes else []
        except ServiceError as error:
            log.warning("webhook.untold", **fault(error))
            return
        for webhook in (one for one in webhooks if one.application in {None, scope.application}):
            for memory_id, event in changes:
                if _KINDS.get(event) in webhook.events:
                    self._post(webhook, scope, partial(self._said, scope, memory_id, event))
                if event is Event.ADD and "memory_categorize" in webhook.events:
                    self._post(webhook, scope, partial(self._sorted, scope, str(memory_id)))

    def _post(self, webhook: Webhook, scope: Scope, read: Read) -> None:
        async def while_registered() -> dict[str, object] | None:
            # Looked up when it is sent: a webhook that was removed, or erased with all else, is told nothing more.
            kept = await self._records.get(Everything(scope.person), KIND, webhook.id)
            return None if kept is None else await read()

        self._delivery.post(Message(webhook, while_registered))

    async def _said(self, scope: Scope, memory_id: str | None, event: Event) -> dict[str, object] | None:
        if event is Event.DELETE or memory_id is None:
            return {"event_details": {"id": memory_id, "event": event, "data": {"memory": None}}}
        memory = await self._store.get(scope, memory_id)
        if memory is None:
            return None
        return {"event_details": {"id": memory_id, "event": event, "data": {"memory": memory.words}}}

    async def _sorted(self, scope: Scope, memory_id: str) -> dict[str, object] | None:
        memory = await self._store.get(scope, memory_id)
        if memory is None or not memory.categories:
            return None
        details: dict[str, object] = {"event": "CATEGORIZE", "memory_id": memory_id, "categories": memory.categories}
        return {**details, "event_details": details}
