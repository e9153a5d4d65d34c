"""Learns as their person sees them: accepted once by a key, so many at most, listed, and dropped long after."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from shared.errors import BadValue, TooMany
from shared.scope import Everything, Reach
from shared.stores.queue import LearnQueue, Status
from tests.conformance.build import ANA, ANA_TRAVEL, BEN
from tests.conformance.learns import REQUEST, accept, claim


async def test_a_key_that_was_seen_answers_the_first_request(queue: LearnQueue) -> None:
    first = await accept(queue, idempotency_key="k1")
    again = await accept(queue, idempotency_key="k1", most=1, request={"other": True})
    elsewhere = await accept(queue, ANA_TRAVEL, idempotency_key="k1")
    claimed = await claim(queue)

    assert again.id == first.id != elsewhere.id
    assert claimed.request == REQUEST
    await queue.fail(first, "worker", "no")
    assert (await accept(queue, idempotency_key="k1")).status is Status.FAILED


async def test_requests_with_one_key_at_once_are_one(queue: LearnQueue) -> None:
    events = await asyncio.gather(*(accept(queue, idempotency_key="k") for _ in range(10)))

    assert len({event.id for event in events}) == 1
    assert len((await queue.page(ANA, limit=50)).events) == 1


async def test_a_person_has_a_bounded_number_unfinished(queue: LearnQueue) -> None:
    for scope in (ANA, ANA_TRAVEL):
        await accept(queue, scope, most=2)
    with pytest.raises(TooMany):
        await accept(queue, ANA, most=2)
    await accept(queue, BEN, most=2)
    claimed = await claim(queue)
    await queue.fail(claimed, "worker", "no")

    assert (await accept(queue, ANA, most=2)).status is Status.PENDING


async def test_events_are_listed_newest_first_without_repeats(queue: LearnQueue) -> None:
    events = [await accept(queue, scope) for scope in (ANA, ANA_TRAVEL, ANA, ANA, ANA_TRAVEL)]
    await accept(queue, BEN)
    found: list[str] = []
    after = None
    while True:
        page = await queue.page(Everything("ana"), limit=2, after=after)
        found += [event.id for event in page.events]
        if (after := page.next) is None:
            break

    assert found == [event.id for event in reversed(events)]
    assert [e.id for e in (await queue.page(ANA, limit=9)).events] == [events[n].id for n in (3, 2, 0)]
    assert [e.id for e in (await queue.page(ANA, limit=2, offset=1)).events] == [events[n].id for n in (2, 0)]
    assert (await queue.count(ANA), await queue.count(Everything("ana"))) == (3, 5)
    assert (await queue.page(ANA, limit=9, status=Status.RUNNING)).events == []
    with pytest.raises(BadValue):
        await queue.page(ANA, limit=2, after="nonsense")


@pytest.mark.parametrize("reach", [BEN, ANA_TRAVEL, Everything("ben")], ids=str)
async def test_an_event_out_of_reach_is_unknown(queue: LearnQueue, reach: Reach) -> None:
    event = await accept(queue)

    assert await queue.get(reach, event.id) is None
    assert (await queue.page(reach, limit=9)).events == []
    assert await queue.get(Everything("ana"), event.id) == event


@pytest.mark.parametrize(
    "wrong", ["", "abc", "\x00", "\ud800" * 36, "{3f0c1c5e-8d44-4a57-9a8e-0d5f6f6c2a11}", "9" * 9000]
)
async def test_a_malformed_event_id_is_unknown(queue: LearnQueue, wrong: str) -> None:
    assert await queue.get(ANA, wrong) is None


async def test_what_ended_long_ago_is_dropped(queue: LearnQueue) -> None:
    ended, waiting = await accept(queue, idempotency_key="k"), await accept(queue, BEN)
    await claim(queue)
    await queue.fail(ended, "worker", "no")

    assert await queue.drop_finished(timedelta(hours=1)) == 0
    assert await queue.drop_finished(timedelta(seconds=-1)) == 1
    assert await queue.get(ANA, ended.id) is None
    assert await queue.get(BEN, waiting.id) is not None


async def test_the_depth_is_what_has_not_ended_of_everybody(queue: LearnQueue) -> None:
    assert await queue.depth() == 0
    ended = await accept(queue)
    await accept(queue, BEN)
    assert await queue.depth() == 2
    await claim(queue)
    await queue.fail(ended, "worker", "no")

    assert await queue.depth() == 1
