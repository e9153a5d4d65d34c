"""Webhooks for the cases of the outbox, and a worker that takes what waits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from shared.client_records import WEBHOOK, ClientRecords
from shared.scope import Everything, Scope
from shared.stores.outbox import Delivery, Outbox, Tell
from tests.conformance.build import ANA

LEASE = timedelta(seconds=30)
NOW = timedelta(0)


async def hook(records: ClientRecords, name: str, *tells: Tell, scope: Scope = ANA, bound: bool = False) -> None:
    body = {"event_types": list(tells or Tell), "application": scope.application if bound else None}
    await records.put(Everything(scope.person), WEBHOOK, name, body)


async def claim(outbox: Outbox, worker: str = "w", *, most: int = 100) -> Sequence[Delivery]:
    found = await outbox.claim(worker, LEASE, most=most)
    return sorted(found, key=lambda one: one.key)


async def told(outbox: Outbox) -> list[tuple[str, Tell, str | None]]:
    """All that waits, as it would be sent."""
    found = []
    while some := await claim(outbox):
        for one in some:
            found.append((one.webhook_id, one.tell, one.memory_id))
            await outbox.end(one, "w", pause=NOW, failures=0)
    return found
