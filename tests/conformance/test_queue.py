"""The queue of learns: accepted is kept, each is learned once, in order in its scope, and forgetting reaches it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from shared.errors import BadValue, ForgottenMeanwhile, TooMany
from shared.records import By, Door, Event, Update
from shared.scope import Everything, Scope
from shared.stores.pg.queue import PostgresQueue
from shared.stores.ports import Accepted
from shared.stores.queue import INTERRUPTED, MOST_ATTEMPTS, Claimed, LearnEvent, LearnQueue, Status
from tests.conformance.build import ANA, ANA_TRAVEL, BEN, BY, direction, keep, memory, words_of

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


async def test_one_of_a_scope_runs_at_a_time_in_the_order_of_acceptance(queue, store):
    events = [await accept(queue) for _ in range(3)]
    order = []
    for _ in events:
        taken = await claimed(queue)
        order.append(taken.id)
        assert await queue.claim("other", LEASE) is None
        await store.commit(ANA, [], BY, accepted=Accepted(taken.epoch, taken.id))

    assert order == [event.id for event in events]


async def test_other_scopes_go_on(queue):
    first, travel, ben = await accept(queue), await accept(queue, ANA_TRAVEL), await accept(queue, BEN)
    await accept(queue)

    taken = [(await claimed(queue)).id for _ in range(3)]

    assert taken == [first.id, travel.id, ben.id]
    assert await queue.claim("w", LEASE) is None


async def test_claims_at_once_never_get_the_same(queue):
    events = [await accept(queue, Scope(f"p{n}", "app:x")) for n in range(12)]
    await accept(queue, Scope("p0", "app:x"))

    taken = await asyncio.gather(*(queue.claim(f"w{n}", LEASE) for n in range(30)))

    got = [one.id for one in taken if one is not None]
    assert len(got) == len(set(got))
    assert set(got) <= {event.id for event in events}


async def test_what_waits_for_another_try_keeps_the_later_ones_waiting(queue):
    first, second = await accept(queue), await accept(queue)
    taken = await claimed(queue)

    assert await queue.put_back(taken.id, "w", after=timedelta(seconds=60))

    assert await queue.claim("w", LEASE) is None
    assert await status_of(queue, first) is await status_of(queue, second) is Status.PENDING


async def test_what_was_put_back_is_tried_again_and_counted(queue):
    await accept(queue)
    for attempt in (1, 2):
        taken = await claimed(queue)
        assert taken.attempt == attempt
        await queue.put_back(taken.id, "w", after=AT_ONCE)
    taken = await claimed(queue)
    await queue.put_back(taken.id, "w", after=AT_ONCE, counted=False)

    assert (await claimed(queue)).attempt == 3


async def test_what_needs_no_llm_can_be_taken_alone(queue):
    slow, quick = await accept(queue, extracts=True), await accept(queue, BEN)

    assert (await claimed(queue, extracting=False)).id == quick.id
    assert await queue.claim("w", LEASE, extracting=False) is None
    assert (await claimed(queue, extracting=True)).id == slow.id


async def test_a_commit_ends_the_event_with_its_results_and_erases_the_request(queue, store):
    event = await accept(queue)
    taken = await claimed(queue)
    await queue.note(taken.id, "w", "One was left out.")

    [outcome] = await store.commit(ANA, [memory("Likes tea")], BY, accepted=Accepted(taken.epoch, taken.id))

    found = await queue.get(ANA, event.id)
    assert found is not None
    assert (found.status, found.error, found.note) == (Status.SUCCEEDED, None, "One was left out.")
    assert [(one.id, one.event) for one in found.results] == [(outcome.id, Event.ADD)]
    assert found.started_at is not None
    assert found.completed_at is not None
    assert found.created_at <= found.started_at <= found.completed_at
    assert await _requests(queue) == 0


async def test_a_commit_happens_once_whoever_comes_second(queue, store):
    await accept(queue)
    taken = await claimed(queue)
    accepted = Accepted(taken.epoch, taken.id)
    await store.commit(ANA, [memory("Likes tea")], BY, accepted=accepted)

    with pytest.raises(ForgottenMeanwhile):
        await store.commit(ANA, [memory("Likes tea, again")], BY, accepted=accepted)

    assert words_of((await store.page(ANA, limit=10)).memories) == ["Likes tea"]


async def test_a_failure_ends_the_event_with_a_sentence_and_erases_the_request(queue):
    event = await accept(queue)
    taken = await claimed(queue)

    assert await queue.fail(taken.id, "w", "It cannot be read.")

    found = await queue.get(ANA, event.id)
    assert found is not None
    assert (found.status, found.error, list(found.results)) == (Status.FAILED, "It cannot be read.", [])
    assert found.completed_at is not None
    assert await _requests(queue) == 0


async def test_only_the_worker_that_has_it_has_a_say(queue):
    event = await accept(queue)
    taken = await claimed(queue)

    assert not await queue.extend(taken.id, "other", LEASE)
    assert not await queue.put_back(taken.id, "other", after=AT_ONCE)
    assert not await queue.fail(taken.id, "other", "x")
    await queue.note(taken.id, "other", "x")
    assert await queue.extend(taken.id, "w", LEASE)
    assert await status_of(queue, event) is Status.RUNNING
    assert await queue.fail(taken.id, "w", "x")
    assert not await queue.put_back(taken.id, "w", after=AT_ONCE)
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
    assert not await queue.extend(first.id, "gone", LEASE)
    assert await queue.lapse() == 0


async def test_what_ends_its_workers_fails_in_the_end(queue):
    event = await accept(queue)
    for _ in range(MOST_ATTEMPTS):
        assert await queue.claim("gone", timedelta(0)) is not None
        await asyncio.sleep(0.01)
        assert await queue.lapse() == 1

    found = await queue.get(ANA, event.id)

    assert found is not None
    assert (found.status, found.error) == (Status.FAILED, INTERRUPTED)
    assert await _requests(queue) == 0


async def test_the_same_key_in_the_same_scope_is_the_same_learn(queue):
    first = await accept(queue, idempotency_key="k")
    again = await accept(queue, request={"memory": "other"}, idempotency_key="k")
    elsewhere = await accept(queue, ANA_TRAVEL, idempotency_key="k")
    bens = await accept(queue, BEN, idempotency_key="k")

    assert again.id == first.id
    assert len({first.id, elsewhere.id, bens.id}) == 3
    taken = await claimed(queue)
    await queue.fail(taken.id, "w", "x")
    ended = await accept(queue, idempotency_key="k")
    assert (ended.id, ended.status) == (first.id, Status.FAILED)


async def test_keys_at_once_are_one_learn(queue):
    events = await asyncio.gather(*(accept(queue, idempotency_key="k") for _ in range(15)))

    assert len({event.id for event in events}) == 1


async def test_a_person_has_so_many_unfinished_ones_over_all_applications(queue):
    await asyncio.gather(*(accept(queue, ANA if n % 2 else ANA_TRAVEL, most=6) for n in range(6)))

    with pytest.raises(TooMany) as refused:
        await accept(queue, most=6)

    assert refused.value.headers["Retry-After"]
    assert (await accept(queue, BEN, most=6)).status is Status.PENDING
    taken = await claimed(queue)
    await queue.fail(taken.id, "w", "x")
    assert (await accept(queue, most=6)).status is Status.PENDING


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
    assert await _requests(queue) == 1


async def test_forgetting_a_person_drops_what_is_queued_everywhere(queue, store):
    ours = [await accept(queue), await accept(queue, ANA_TRAVEL)]
    bens = await accept(queue, BEN)

    await store.forget_all(Everything("ana"), BY, confirmed=None)

    assert [await status_of(queue, event) for event in ours] == [Status.FAILED, Status.FAILED]
    assert await status_of(queue, bens) is Status.PENDING


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


async def test_an_event_is_within_reach_or_unknown(queue):
    event = await accept(queue)

    assert await queue.get(ANA, event.id) is not None
    assert await queue.get(Everything("ana"), event.id.upper()) is not None
    for reach in (BEN, ANA_TRAVEL, Everything("ben"), Everything("*"), Scope("ana", "app:%")):
        assert await queue.get(reach, event.id) is None
        assert (await queue.page(reach, limit=10)).events == []
    for malformed in ("", "x", "*", "\0", "3fa85f64", "'; --"):
        assert await queue.get(ANA, malformed) is None


async def test_events_page_newest_first_and_neither_repeat_nor_skip(queue):
    events = [await accept(queue, ANA if n % 2 else ANA_TRAVEL) for n in range(7)]
    seen, after = [], None
    while True:
        page = await queue.page(Everything("ana"), limit=3, after=after)
        seen += [event.id for event in page.events]
        if (after := page.next) is None:
            break
        await accept(queue)

    assert seen == [event.id for event in reversed(events)]
    assert [e.id for e in (await queue.page(ANA_TRAVEL, limit=10)).events] == [e.id for e in reversed(events[::2])]


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
    await queue.fail(taken.id, "w", "x")

    assert await queue.drop_finished(timedelta(hours=1)) == 0
    assert await queue.drop_finished(timedelta(seconds=-1)) == 1

    assert await queue.get(ANA, ended.id) is None
    assert await status_of(queue, waits) is Status.PENDING
    assert (await accept(queue, idempotency_key="k")).id != ended.id


@pytest.mark.parametrize(
    "wrong", ["", "abc", "\x00", "\ud800" * 36, "{3f0c1c5e-8d44-4a57-9a8e-0d5f6f6c2a11}", "9" * 9000]
)
async def test_a_malformed_event_id_is_unknown(queue, wrong):
    assert await queue.get(ANA, wrong) is None


async def test_an_update_does_not_bring_back_what_was_forgotten(queue, store):
    tea, rain = await keep(store, ANA, memory("likes tea"), memory("likes rain"))
    event = await accept(queue)
    taken = await claimed(queue)
    await store.forget(ANA, tea, BY)

    changes = [Update(rain, "likes tea", "tea", direction(1)), memory("likes snow")]
    outcomes = await store.commit(ANA, changes, BY, accepted=Accepted(taken.epoch, event.id))

    assert [outcome.words for outcome in outcomes] == ["likes snow"]


async def test_an_event_of_another_scope_is_not_committed(queue, store):
    event = await accept(queue)
    with pytest.raises(ForgottenMeanwhile):
        await store.commit(ANA, [memory("x")], BY, accepted=Accepted(await store.epoch(ANA), event.id))
    await claimed(queue)
    with pytest.raises(ForgottenMeanwhile):
        await store.commit(BEN, [memory("x")], BY, accepted=Accepted(await store.epoch(BEN), event.id))

    assert await store.count(ANA) == await store.count(BEN) == 0


async def _requests(queue: LearnQueue) -> int:
    """How many raw requests are kept."""
    if isinstance(queue, PostgresQueue):
        async with queue._database.connection() as connection:
            return await connection.fetchval("SELECT count(request) FROM runtime_memory.events")
    return await queue._database.read(lambda c: c.execute("SELECT count(*) FROM event_requests").fetchone()[0])
