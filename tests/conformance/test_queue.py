"""The queue of learns: kept once, taken by one, in order, and ended with its memories or put back."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from shared.errors import ForgottenMeanwhile
from shared.records import By, Delete, Door, Event, Update
from shared.scope import Everything, Reach, Scope
from shared.stores.ports import Accepted, MemoryStore
from shared.stores.queue import INTERRUPTED, MOST_ATTEMPTS, LearnQueue, Status
from tests.conformance.build import ANA, BEN, BY, direction, keep, memory
from tests.conformance.learns import LEASE, PAST, REQUEST, accept, claim, status


async def test_an_accepted_learn_is_pending_until_it_is_claimed(queue: LearnQueue) -> None:
    event = await accept(queue, by=By("zoe", Door.MEM0))
    assert (event.status, event.results, event.error, event.started_at) == (Status.PENDING, [], None, None)
    claimed = await claim(queue)
    running = await status(queue, event)

    assert (claimed.id, claimed.scope, claimed.request, claimed.attempt) == (event.id, ANA, REQUEST, 1)
    assert claimed.by == By("zoe", Door.MEM0)
    assert (running.status, running.created_at) == (Status.RUNNING, event.created_at)
    assert running.started_at is not None
    assert await queue.claim("worker", LEASE) is None


async def test_nothing_is_claimed_from_an_empty_queue(queue: LearnQueue) -> None:
    assert await queue.claim("worker", LEASE) is None
    assert await queue.lapse() == 0


async def test_one_of_a_scope_runs_at_a_time_in_the_order_of_acceptance(queue: LearnQueue) -> None:
    first, second = await accept(queue), await accept(queue)
    other = await accept(queue, BEN)

    assert (await claim(queue)).id == first.id
    assert (await claim(queue)).id == other.id
    assert await queue.claim("worker", LEASE) is None
    await queue.fail(first, "worker", "It could not be read.")
    assert (await claim(queue)).id == second.id


async def test_one_that_waits_to_be_tried_again_keeps_the_later_ones_waiting(queue: LearnQueue) -> None:
    first, _ = await accept(queue), await accept(queue)
    await claim(queue)
    assert await queue.put_back(first, "worker", after=timedelta(minutes=5))

    assert await queue.claim("worker", LEASE) is None
    assert (await status(queue, first)).status is Status.PENDING


async def test_many_claims_at_once_take_each_learn_once(queue: LearnQueue) -> None:
    events = [await accept(queue, Scope(f"person{n}", "app:notes")) for n in range(10)]
    found = await asyncio.gather(*(queue.claim(f"worker{n}", LEASE) for n in range(20)))
    found += [await queue.claim("late", LEASE) for _ in range(10)]

    taken = [one.id for one in found if one is not None]
    assert sorted(taken) == sorted(event.id for event in events)


async def test_a_lane_takes_only_its_own_kind(queue: LearnQueue) -> None:
    plain = await accept(queue, ANA, extracts=False)
    extracting = await accept(queue, BEN, extracts=True)

    assert (await claim(queue, extracting=True)).id == extracting.id
    assert await queue.claim("worker", LEASE, extracting=True) is None
    assert (await claim(queue, extracting=False)).id == plain.id


async def test_a_learn_ends_with_its_memories(queue: LearnQueue, store: MemoryStore) -> None:
    (old,) = await keep(store, ANA, memory("likes tea"))
    event = await accept(queue)
    claimed = await claim(queue)
    await queue.note(event, "worker", "One sentence was left out.")
    add = memory("likes rain")
    changes = [add, Update(old, "likes coffee", "coffee", direction(1)), memory("likes rain")]
    await store.commit(ANA, changes, BY, accepted=Accepted(claimed.epoch, event.id))
    ended = await status(queue, event)

    assert (ended.status, ended.error, ended.note) == (Status.SUCCEEDED, None, "One sentence was left out.")
    assert {(r.id, r.event) for r in ended.results} == {(add.id, Event.ADD), (old, Event.UPDATE), (add.id, Event.NONE)}
    assert ended.completed_at is not None
    with pytest.raises(ForgottenMeanwhile):
        await store.commit(ANA, [memory("again")], BY, accepted=Accepted(claimed.epoch, event.id))


async def test_a_learn_that_is_not_running_commits_nothing(queue: LearnQueue, store: MemoryStore) -> None:
    event = await accept(queue)
    with pytest.raises(ForgottenMeanwhile):
        await store.commit(ANA, [memory("x")], BY, accepted=Accepted(await store.epoch(ANA), event.id))
    await claim(queue)
    with pytest.raises(ForgottenMeanwhile):
        await store.commit(BEN, [memory("x")], BY, accepted=Accepted(await store.epoch(BEN), event.id))

    assert await store.count(ANA) == await store.count(BEN) == 0


@pytest.mark.parametrize("reach", [ANA, Everything("ana")], ids=str)
async def test_a_forget_all_ends_what_is_queued(queue: LearnQueue, store: MemoryStore, reach: Reach) -> None:
    running, waiting = await accept(queue), await accept(queue)
    other = await accept(queue, BEN)
    claimed = await claim(queue)
    await store.forget_all(reach, BY, confirmed=None)

    for event in (running, waiting):
        ended = await status(queue, event)
        assert (ended.status, ended.results) == (Status.FAILED, [])
        assert ended.error is not None
    assert (await status(queue, other)).status is Status.PENDING
    assert not await queue.extend(running, "worker", LEASE)
    with pytest.raises(ForgottenMeanwhile):
        await store.commit(ANA, [memory("late")], BY, accepted=Accepted(claimed.epoch, running.id))


@pytest.mark.field("B104")
async def test_a_learn_in_flight_does_not_bring_back_what_was_forgotten(queue: LearnQueue, store: MemoryStore) -> None:
    tea, rain = await keep(store, ANA, memory("likes tea"), memory("likes rain"))
    event = await accept(queue)
    claimed = await claim(queue)
    await store.forget(ANA, tea, BY)
    changes = [memory("likes tea"), Update(rain, "likes tea", "tea", direction(1)), memory("likes snow")]
    outcomes = await store.commit(ANA, changes, BY, accepted=Accepted(claimed.epoch, event.id))
    later = await store.commit(ANA, [memory("likes tea")], BY)

    assert [outcome.words for outcome in outcomes] == ["likes snow"]
    assert [outcome.event for outcome in later] == [Event.ADD]


async def test_what_a_learn_itself_deletes_it_may_say_again(queue: LearnQueue, store: MemoryStore) -> None:
    (tea,) = await keep(store, ANA, memory("likes tea"))
    event = await accept(queue)
    claimed = await claim(queue)
    outcomes = await store.commit(ANA, [Delete(tea)], BY, accepted=Accepted(claimed.epoch, event.id))

    assert [outcome.event for outcome in outcomes] == [Event.DELETE]
    assert await store.count(ANA) == 0


async def test_a_failed_learn_says_why(queue: LearnQueue) -> None:
    event = await accept(queue)
    await claim(queue)
    assert await queue.fail(event, "worker", "The LLM answered nothing that can be read.")
    ended = await status(queue, event)

    assert (ended.status, ended.error) == (Status.FAILED, "The LLM answered nothing that can be read.")
    assert ended.completed_at is not None
    assert not await queue.fail(event, "worker", "again")


async def test_a_worker_touches_only_what_it_has(queue: LearnQueue) -> None:
    event = await accept(queue)
    assert not await queue.extend(event, "worker", LEASE)
    await claim(queue)

    assert not await queue.extend(event, "other", LEASE)
    assert not await queue.put_back(event, "other", after=timedelta(0))
    assert not await queue.fail(event, "other", "no")
    await queue.note(event, "other", "no")
    assert (await status(queue, event)).note is None
    assert await queue.extend(event, "worker", LEASE)


async def test_an_attempt_counts_unless_it_was_given_back(queue: LearnQueue) -> None:
    event = await accept(queue)
    attempts = []
    for counted in (False, True, True):
        attempts.append((await claim(queue)).attempt)
        await queue.put_back(event, "worker", after=timedelta(0), counted=counted)

    assert [*attempts, (await claim(queue)).attempt] == [1, 1, 2, 3]


async def test_what_a_worker_left_behind_is_put_back_and_fails_in_the_end(queue: LearnQueue) -> None:
    event = await accept(queue)
    for attempt in range(1, MOST_ATTEMPTS + 1):
        found = await queue.claim(f"worker{attempt}", PAST)
        assert found is not None
        assert found.attempt == attempt
        assert await queue.lapse() == 1
    ended = await status(queue, event)

    assert (ended.status, ended.error) == (Status.FAILED, INTERRUPTED)
    assert await queue.lapse() == 0


async def test_a_lease_that_lasts_is_not_lapsed(queue: LearnQueue) -> None:
    event = await accept(queue)
    await queue.claim("worker", PAST)
    await queue.extend(event, "worker", LEASE)

    assert await queue.lapse() == 0
    assert (await status(queue, event)).status is Status.RUNNING
