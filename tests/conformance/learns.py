"""Learns in the queue, as its cases make and take them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from shared.scope import Scope
from shared.stores.queue import Claimed, LearnEvent, LearnQueue
from tests.conformance.build import ANA, BY

LEASE = timedelta(seconds=30)
PAST = timedelta(seconds=-1)
REQUEST = {"messages": [{"role": "user", "content": "Ich trinke 🍵 gern"}], "wait": False, "n": 1}


async def accept(queue: LearnQueue, scope: Scope = ANA, **options: Any) -> LearnEvent:
    wanted: dict[str, Any] = {"extracts": True, "idempotency_key": None, "most": 100} | options
    request = wanted.pop("request", REQUEST)
    return await queue.enqueue(scope, request, wanted.pop("by", BY), **wanted)


async def claim(queue: LearnQueue, **options: Any) -> Claimed:
    found = await queue.claim("worker", LEASE, **options)
    assert found is not None
    return found


async def status(queue: LearnQueue, event: LearnEvent) -> LearnEvent:
    found = await queue.get(event.scope, event.id)
    assert found is not None
    return found
