"""A learn is committed once, whoever has it and whatever is forgotten meanwhile."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from shared.errors import BadValue, ForgottenMeanwhile
from shared.records import By, Door, Event
from shared.scope import Scope
from shared.stores.ports import Accepted
from shared.stores.queue import Claimed, LearnEvent, LearnQueue, Status
from tests.conformance.build import ANA, ANA_TRAVEL, BEN, BY, keep, memory, words_of

LEASE = timedelta(seconds=30)
AT_ONCE = timedelta(0)
NASTY = {"messages": [{"role": "user", "content": "'; DROP TABLE events; -- 🦊 اسم \\u0041 * %"}], "n": 1.5, "x": None}


async def accept(queue: LearnQueue, scope: Scope = ANA, request: Any = None, **more: Any) -> LearnEvent:
    given = {"extracts": False, "idempotency_key": None, "most": 100, **more}
    return await queue.enqueue(scope, request or {"memory": "x"}, given.pop("by", BY), **given)


async def status_of(queue: LearnQueue, event: LearnEvent) -> Status:
    found = await queue.get(event.scope, event.id)
    assert found is not None
    return found.status


async def claimed(queue: LearnQueue, worker: str = "w", **more: Any) -> Claimed:
    found = await queue.claim(worker, LEASE, **more)
    assert found is not None
    return found


async def test_what_is_accepted_is_what_is_claimed(queue):
    event = await accept(queue, request=NASTY, by=By("the-key's-owner", Door.MEM0))

    taken = await claimed(queue)

    assert (taken.id, taken.scope, taken.request, taken.by) == (event.id, ANA, NASTY, By("the-key's-owner", Door.MEM0))
    assert (taken.epoch, taken.attempt) == (0, 1)
    assert event.status is Status.PENDING
    assert await status_of(queue, event) is Status.RUNNING
    assert await queue.claim("w", LEASE) is None


async def test_other_scopes_go_on(queue):
    first, travel, ben = await accept(queue), await accept(queue, ANA_TRAVEL), await accept(queue, BEN)
    await accept(queue)

    taken = [(await claimed(queue)).id for _ in range(3)]

    assert taken == [first.id, travel.id, ben.id]
    assert await queue.claim("w", LEASE) is None


async def test_a_commit_happens_once_whoever_comes_second(queue, store):
    await accept(queue)
    taken = await claimed(queue)
    accepted = Accepted(taken.epoch, taken.id)
    await store.commit(ANA, [memory("Likes tea")], BY, accepted=accepted)

    with pytest.raises(ForgottenMeanwhile):
        await store.commit(ANA, [memory("Likes tea, again")], BY, accepted=accepted)

    assert words_of((await store.page(ANA, limit=10)).memories) == ["Likes tea"]


async def test_only_the_worker_that_has_it_has_a_say(queue):
    event = await accept(queue)
    taken = await claimed(queue)

    assert not await queue.extend(taken, "other", LEASE)
    assert not await queue.put_back(taken, "other", after=AT_ONCE)
    assert not await queue.fail(taken, "other", "x")
    await queue.note(taken, "other", "x")
    assert await queue.extend(taken, "w", LEASE)
    assert await status_of(queue, event) is Status.RUNNING
    assert await queue.fail(taken, "w", "x")
    assert not await queue.put_back(taken, "w", after=AT_ONCE)
    found = await queue.get(ANA, event.id)
    assert found is not None
    assert found.note is None


async def test_a_lease_that_ended_lets_another_worker_have_it(queue, store):
    await accept(queue)
    first = await queue.claim("gone", timedelta(milliseconds=20))
    await asyncio.sleep(0.05)

    assert await queue.lapse() == 1
    second = await claimed(queue, "alive")

    assert first is not None
    assert (second.id, second.attempt) == (first.id, 2)
    assert not await queue.extend(first, "gone", LEASE)
    assert await queue.lapse() == 0


async def test_a_known_key_is_answered_however_many_wait(queue):
    first = await accept(queue, idempotency_key="k", most=1)

    assert (await accept(queue, idempotency_key="k", most=1)).id == first.id


async def test_forgetting_all_drops_what_is_queued_and_what_runs(queue, store):
    running, waiting = await accept(queue), await accept(queue)
    other = await accept(queue, ANA_TRAVEL)
    taken = await claimed(queue)

    await store.forget_all(ANA, BY, confirmed=0)

    for event in (running, waiting):
        found = await queue.get(ANA, event.id)
        assert found is not None
        assert found.status is Status.FAILED
        assert "forgotten" in (found.error or "")
    with pytest.raises(ForgottenMeanwhile):
        await store.commit(ANA, [memory("Likes tea")], BY, accepted=Accepted(taken.epoch, taken.id))
    assert (await store.page(ANA, limit=10)).total == 0
    assert await status_of(queue, other) is Status.PENDING


async def test_a_learn_accepted_after_forgetting_is_learned(queue, store):
    await store.forget_all(ANA, BY, confirmed=None)
    await accept(queue)
    taken = await claimed(queue)

    outcomes = await store.commit(ANA, [memory("Likes tea")], BY, accepted=Accepted(taken.epoch, taken.id))

    assert [outcome.event for outcome in outcomes] == [Event.ADD]


async def test_words_forgotten_meanwhile_are_not_brought_back_by_what_was_accepted_before(queue, store):
    [tea, oslo] = await keep(store, ANA, memory("Likes tea"), memory("Lives in Oslo"))
    before, after = await accept(queue), None
    taken = await claimed(queue)
    await store.forget(ANA, tea, BY)
    after = await accept(queue)

    first = await store.commit(
        ANA, [memory("Likes tea"), memory("Lives in Oslo")], BY, accepted=Accepted(taken.epoch, taken.id)
    )
    taken = await claimed(queue)
    second = await store.commit(ANA, [memory("Likes tea")], BY, accepted=Accepted(taken.epoch, taken.id))

    assert [(outcome.id, outcome.event) for outcome in first] == [(oslo, Event.NONE)]
    assert taken.id == after.id != before.id
    assert [outcome.event for outcome in second] == [Event.ADD]


async def test_events_are_listed_by_status(queue):
    first, second = await accept(queue), await accept(queue)
    await claimed(queue)

    assert [e.id for e in (await queue.page(ANA, limit=9, status=Status.RUNNING)).events] == [first.id]
    assert [e.id for e in (await queue.page(ANA, limit=9, status=Status.PENDING)).events] == [second.id]
    assert (await queue.page(ANA, limit=9, status=Status.FAILED)).events == []


@pytest.mark.parametrize("after", ["", "x", "é", "A" * 500, "WyIiLCIiXQ"])
async def test_a_cursor_that_is_none_is_refused(queue, after):
    with pytest.raises(BadValue):
        await queue.page(ANA, limit=2, after=after)


async def test_what_ended_is_dropped_after_a_while(queue):
    ended, waits = await accept(queue, idempotency_key="k"), await accept(queue)
    taken = await claimed(queue)
    await queue.fail(taken, "w", "x")

    assert await queue.drop_finished(timedelta(hours=1)) == 0
    assert await queue.drop_finished(timedelta(seconds=-1)) == 1

    assert await queue.get(ANA, ended.id) is None
    assert await status_of(queue, waits) is Status.PENDING
    assert (await accept(queue, idempotency_key="k")).id != ended.id
