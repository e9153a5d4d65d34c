"""The outbox: what a change leaves to tell, and that nothing of it outlives what was forgotten."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest

from shared.client_records import ClientRecords
from shared.errors import GrewMeanwhile
from shared.filters import Among, Filter
from shared.records import Delete, Patch
from shared.scope import Everything
from shared.stores.outbox import MOST_WAITING, Outbox, Tell
from shared.stores.ports import MemoryStore
from shared.stores.states import StateStore
from tests.conformance.build import ANA, ANA_TRAVEL, BEN, BY, keep, keep_many, memory
from tests.conformance.telling import hook, told


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
