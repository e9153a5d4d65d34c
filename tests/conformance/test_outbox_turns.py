"""The outbox: whose turn it is, what a failure keeps waiting, and what becomes of a worker that is gone."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from shared.client_records import ClientRecords
from shared.scope import Scope
from shared.stores.outbox import AT_ONCE, MOST_ATTEMPTS, Outbox, Tell
from shared.stores.ports import MemoryStore
from tests.conformance.build import ANA, BEN, keep, keep_many, memory
from tests.conformance.telling import LEASE, NOW, claim, hook

LATER = timedelta(minutes=5)


async def test_one_webhook_is_told_one_thing_at_a_time_in_order(
    store: MemoryStore, outbox: Outbox, records: ClientRecords
) -> None:
    await hook(records, "all", Tell.ADD)
    first, second = await keep_many(store, ANA, 2)
    [one] = await claim(outbox)
    assert (one.memory_id, one.attempt, one.failures) == (first, 1, 0)
    assert await claim(outbox, "another") == []
    await outbox.end(one, "w", pause=NOW, failures=0)
    [two] = await claim(outbox)

    assert two.memory_id == second


async def test_one_that_failed_keeps_its_own_webhook_waiting_and_no_other(
    store: MemoryStore, outbox: Outbox, records: ClientRecords
) -> None:
    await hook(records, "failing", Tell.ADD)
    await hook(records, "well", Tell.ADD)
    await keep_many(store, ANA, 2)
    failing, well = sorted(await claim(outbox), key=lambda one: one.webhook_id)
    await outbox.again(failing, "w", after=LATER)
    await outbox.end(well, "w", pause=NOW, failures=0)
    [one] = await claim(outbox)

    assert one.webhook_id == "well"


async def test_a_failure_is_counted_and_its_id_stays(
    store: MemoryStore, outbox: Outbox, records: ClientRecords
) -> None:
    await hook(records, "all", Tell.ADD)
    first, second = await keep_many(store, ANA, 2)
    [one] = await claim(outbox)
    await outbox.again(one, "w", after=NOW)
    [again] = await claim(outbox)
    assert (again.id, again.memory_id, again.attempt, again.failures) == (one.id, first, 2, 1)
    await outbox.again(again, "w", after=NOW, counted=False)
    [uncounted] = await claim(outbox)
    assert (uncounted.attempt, uncounted.failures) == (2, 1)
    await outbox.end(uncounted, "w", pause=NOW, failures=2)
    [following] = await claim(outbox)

    assert (following.memory_id, following.attempt, following.failures) == (second, 1, 2)


async def test_after_one_was_given_up_the_next_of_its_webhook_waits(
    store: MemoryStore, outbox: Outbox, records: ClientRecords
) -> None:
    await hook(records, "all", Tell.ADD)
    await keep_many(store, ANA, 2)
    [one] = await claim(outbox)
    await outbox.end(one, "w", pause=LATER, failures=6)

    assert await claim(outbox) == []
    assert await outbox.waiting() == 1


async def test_a_person_has_no_more_than_their_share_of_a_workers_senders(
    store: MemoryStore, outbox: Outbox, records: ClientRecords
) -> None:
    for number in range(20):
        await hook(records, f"hanging{number}", Tell.ADD)
    await hook(records, "bens", Tell.ADD, scope=BEN)
    await keep(store, ANA, memory("tea"))
    await keep(store, BEN, memory("jam"))

    found = await claim(outbox)
    assert sorted(one.person for one in found) == ["ana"] * AT_ONCE + ["ben"]
    assert await claim(outbox) == []
    await outbox.again(next(one for one in found if one.person == "ana"), "w", after=LATER)
    assert [one.person for one in await claim(outbox)] == ["ana"]


async def test_whose_turn_is_longest_due_comes_first(
    store: MemoryStore, outbox: Outbox, records: ClientRecords
) -> None:
    await hook(records, "anas", Tell.ADD)
    await hook(records, "bens", Tell.ADD, scope=BEN)
    await keep_many(store, ANA, 3)
    [one] = await claim(outbox, most=1)
    await keep(store, BEN, memory("jam"))
    await outbox.end(one, "w", pause=NOW, failures=0)

    assert [one.person for one in await claim(outbox, most=1)] == ["ben"]


async def test_a_worker_that_is_gone_leaves_its_message_to_another(
    store: MemoryStore, outbox: Outbox, records: ClientRecords
) -> None:
    await hook(records, "all", Tell.ADD)
    await keep(store, ANA, memory("tea"))
    [gone] = await outbox.claim("gone", timedelta(seconds=-1), most=9)
    [one] = await claim(outbox)
    assert (one.id, one.attempt) == (gone.id, 2)
    await outbox.end(gone, "gone", pause=NOW, failures=0)
    await outbox.again(gone, "gone", after=NOW)

    assert await outbox.waiting() == 1, "who lost it changes nothing any more"


async def test_many_claims_at_once_take_each_message_once(
    store: MemoryStore, outbox: Outbox, records: ClientRecords
) -> None:
    for number in range(8):
        scope = Scope(f"person{number}", "app:notes")
        await hook(records, "all", Tell.ADD, scope=scope)
        await keep(store, scope, memory("tea"))
    taken = await asyncio.gather(*(outbox.claim(f"w{number}", LEASE, most=3) for number in range(8)))
    taken += [await outbox.claim("last", LEASE, most=9)]

    ids = [one.id for some in taken for one in some]
    assert len(ids) == len(set(ids)) == 8


async def test_what_was_begun_too_often_or_waits_too_long_is_swept(
    store: MemoryStore, outbox: Outbox, records: ClientRecords
) -> None:
    await hook(records, "all", Tell.ADD)
    await keep_many(store, ANA, 2)
    for _ in range(MOST_ATTEMPTS):
        await outbox.claim("gone", timedelta(seconds=-1), most=9)
    assert await claim(outbox) == []
    assert await outbox.sweep(timedelta(days=1)) == 1
    [one] = await claim(outbox)
    assert await outbox.sweep(timedelta(seconds=-1)) == 0, "what is being sent ends by itself"
    await outbox.again(one, "w", after=LATER)

    assert await outbox.sweep(timedelta(seconds=-1)) == 1
    assert await outbox.waiting() == 0


async def test_of_webhooks_that_failed_last_no_more_are_taken_than_is_said(
    store: MemoryStore, outbox: Outbox, records: ClientRecords
) -> None:
    people = [Scope(f"p{n}", "app:notes") for n in range(6)]
    for person in people:
        await hook(records, "all", Tell.ADD, scope=person)
        await keep(store, person, memory("one"))
    first = await claim(outbox)
    for one in first:
        await outbox.again(one, "w", after=NOW, counted=one.person < "p4")

    well = await outbox.claim("w", LEASE, most=9, failing=0)
    assert {one.person for one in well} == {"p4", "p5"}
    some = await outbox.claim("w", LEASE, most=9, failing=3)
    assert {one.failures for one in some} == {1}
    assert len(some) == 3
    assert len(await outbox.claim("w", LEASE, most=9)) == 1


async def test_one_persons_failing_webhooks_take_no_others_share(
    store: MemoryStore, outbox: Outbox, records: ClientRecords
) -> None:
    for name in ("a", "b", "c", "d"):
        await hook(records, name, Tell.ADD)
    await keep(store, ANA, memory("one"))
    await hook(records, "all", Tell.ADD, scope=BEN)
    await keep(store, BEN, memory("two"))
    for _ in range(2):
        for one in await claim(outbox):
            await outbox.again(one, "w", after=NOW)
    hers = await outbox.claim("w", LEASE, most=2)
    others = await outbox.claim("w", LEASE, most=9, failing=1)

    assert [one.person for one in (*hers, *others)] == ["ana", "ana", "ben"]
