"""A learn that this version cannot read ends as one whose worker died does, and stands in nobody's way meanwhile."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from shared.scope import Scope
from shared.stores.local.store import LocalStore
from shared.stores.ports import MemoryStore
from shared.stores.queue import INTERRUPTED, MOST_ATTEMPTS, LearnEvent, LearnQueue, Status, UnreadableLearnError
from tests.conformance.build import ANA, BEN
from tests.conformance.learns import LEASE, PAST, accept, claim, status


async def spoil(store: Any, event: LearnEvent) -> None:
    """As a newer version would have accepted it."""
    sql = "UPDATE {} SET door = 'telepathy' WHERE id = {}"
    if isinstance(store, LocalStore):
        await store.database.write(lambda connection: connection.execute(sql.format("events", "?"), (event.id,)))
    else:
        async with store._database.connection(event.scope.person) as connection:
            await connection.execute(sql.format("runtime_memory.events", "$1"), UUID(event.id))


async def test_what_cannot_be_read_keeps_no_other_waiting(store: MemoryStore, queue: LearnQueue) -> None:
    for number in range(4):
        await spoil(store, await accept(queue, Scope(f"person{number}", "app:notes")))
    other = await accept(queue, BEN)
    for _ in range(4):
        with pytest.raises(UnreadableLearnError):
            await queue.claim("worker", LEASE)

    assert (await claim(queue)).id == other.id


async def test_what_cannot_be_read_ends_after_so_many_attempts_and_its_scope_goes_on(
    store: MemoryStore, queue: LearnQueue
) -> None:
    event, later = await accept(queue, ANA), await accept(queue, ANA)
    await spoil(store, event)
    for _ in range(MOST_ATTEMPTS):
        with pytest.raises(UnreadableLearnError) as told:
            await queue.claim("worker", PAST)
        assert told.value.event_id == event.id
        assert await queue.claim("worker", timedelta(seconds=9)) is None, "the later ones of its scope wait for it"
        assert await queue.lapse() == 1
    found = await status(queue, event)

    assert (found.status, found.error) == (Status.FAILED, INTERRUPTED)
    assert (await claim(queue)).id == later.id
