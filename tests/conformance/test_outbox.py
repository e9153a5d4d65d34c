"""The outbox: what a change leaves to tell, whose turn it is, and that nothing of it outlives what was forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from uuid import uuid4

import pytest

from shared.client_records import WEBHOOK, ClientRecords
from shared.errors import GrewMeanwhile
from shared.filters import Among, Filter
from shared.records import Delete, Patch
from shared.scope import Everything, Scope
from shared.stores.outbox import AT_ONCE, MOST_ATTEMPTS, MOST_WAITING, Delivery, Outbox, Tell
from shared.stores.ports import MemoryStore
from shared.stores.states import StateStore
from tests.conformance.build import ANA, ANA_TRAVEL, BEN, BY, keep, keep_many, memory

LEASE = timedelta(seconds=30)
NOW = timedelta(0)
LATER = timedelta(minutes=5)
ALL = [*Tell]


async def hook(records: ClientRecords, name: str, *tells: Tell, scope: Scope = ANA, bound: bool = False) -> None:
    body = {"event_types": tells or ALL, "application": scope.application if bound else None}
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


async def test_a_change_leaves_what_each_webhook_asked_for_in_order(
    store: MemoryStore, outbox: Outbox, records: ClientRecords
) -> None:
    await hook(records, "all")
    await hook(records, "deletes", Tell.DELETE)
    [tea] = await keep(store, ANA, memory("tea"))
    await store.correct(ANA, tea, Patch("coffee", "coffee"), BY)
    await store.correct(ANA, tea, Patch("coffee", "coffee"), BY)  # the same words again change nothing
    await store.forget(ANA, tea, BY)
    found = await told(outbox)

    kinds = [Tell.ADD, Tell.CATEGORIZE, Tell.UPDATE, Tell.DELETE]
    assert [one for one in found if one[0] == "all"] == [("all", kind, tea) for kind in kinds]
    assert [one for one in found if one[0] == "deletes"] == [("deletes", Tell.DELETE, tea)]
    assert await outbox.waiting() == 0


async def test_a_change_that_is_not_made_leaves_nothing(
    store: MemoryStore, outbox: Outbox, records: ClientRecords
) -> None:
    await hook(records, "all")
    [tea, _] = await keep_many(store, ANA, 2)
    await told(outbox)
    with pytest.raises(GrewMeanwhile):
        await store.forget_all(ANA, BY, confirmed=1)
    await store.forget(ANA, str(uuid4()), BY)
    await store.forget(BEN, tea, BY)
    await store.correct(ANA, str(uuid4()), Patch("coffee", "coffee"), BY)
    await keep(store, ANA, memory("memory 0"))  # known

    assert await told(outbox) == []


async def test_a_learn_that_forgets_is_told_of(store: MemoryStore, outbox: Outbox, records: ClientRecords) -> None:
    [tea] = await keep(store, ANA, memory("tea"))
    await hook(records, "all")
    await store.commit(ANA, [Delete(tea)], BY)

    assert await told(outbox) == [("all", Tell.DELETE, tea)]


async def test_a_webhook_hears_of_its_person_and_application_only(
    store: MemoryStore, outbox: Outbox, records: ClientRecords
) -> None:
    await hook(records, "notes", Tell.ADD, bound=True)
    await hook(records, "bens", Tell.ADD, scope=BEN)
    [tea] = await keep(store, ANA, memory("tea"))
    await keep(store, ANA_TRAVEL, memory("a trip"))

    assert await told(outbox) == [("notes", Tell.ADD, tea)]


async def test_forgetting_everything_is_told_to_the_webhooks_of_what_was_forgotten(
    store: MemoryStore, outbox: Outbox, records: ClientRecords
) -> None:
    await keep(store, ANA, memory("tea"))
    await hook(records, "all", Tell.DELETE)
    await hook(records, "notes", Tell.DELETE, bound=True)
    await hook(records, "travel", Tell.DELETE, scope=ANA_TRAVEL, bound=True)
    await store.forget_all(Everything("ana"), BY, confirmed=None)

    assert sorted(await told(outbox)) == [("all", Tell.DELETE, None), ("notes", Tell.DELETE, None)]


async def test_what_is_forgotten_as_a_whole_does_not_lie_in_the_outbox(
    store: MemoryStore, outbox: Outbox, records: ClientRecords
) -> None:
    await hook(records, "all", Tell.ADD, Tell.DELETE)
    await keep_many(store, ANA, 3)
    [trip] = await keep(store, ANA_TRAVEL, memory("a trip"))
    await store.forget_all(ANA, BY, confirmed=None)

    assert await told(outbox) == [("all", Tell.ADD, trip), ("all", Tell.DELETE, None)]


async def test_of_a_part_that_is_forgotten_only_that_part_goes(
    store: MemoryStore, outbox: Outbox, records: ClientRecords
) -> None:
    await hook(records, "all", Tell.ADD)
    first, second = await keep_many(store, ANA, 2)
    await store.forget_all(ANA, BY, confirmed=None, where=Filter(Among((first,))))

    assert await told(outbox) == [("all", Tell.ADD, second)]


async def test_erasing_a_person_leaves_nothing_to_tell(
    store: MemoryStore, states: StateStore, outbox: Outbox, records: ClientRecords
) -> None:
    await hook(records, "all")
    await keep_many(store, ANA, 2)
    await states.erase(Everything("ana"), BY, allowances=False, snapshots=False)

    assert await outbox.waiting() == 0


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


async def test_too_many_for_one_webhook_are_refused_and_counted_and_the_others_kept(
    store: MemoryStore, outbox: Outbox, records: ClientRecords
) -> None:
    await hook(records, "adds", Tell.ADD)
    await keep_many(store, ANA, MOST_WAITING - 1)
    await hook(records, "late", Tell.ADD)
    await keep_many(store, ANA, 3, words="more")

    assert outbox.refused == 2
    assert await outbox.waiting() == MOST_WAITING + 3


async def test_the_bell_rings_for_what_is_left_to_tell_and_for_nothing_else(
    store: MemoryStore, outbox: Outbox, records: ClientRecords
) -> None:
    waiting = []

    def bell() -> None:
        waiting.append(asyncio.ensure_future(outbox.waiting()))

    outbox.listen(bell)
    await hook(records, "all", Tell.ADD)
    await keep(store, BEN, memory("jam"))
    assert waiting == []
    await keep(store, ANA, memory("tea"))

    assert [await one for one in waiting] == [1], "by then it may be taken"
