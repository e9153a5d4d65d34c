"""Snapshots: everything of a person, kept once, restored exactly, and said of what was forgotten since."""

from __future__ import annotations

import pytest

from shared.records import By, Door, Patch
from shared.snapshots.entries import Kept, Kind
from shared.stores.data import DataStore
from shared.stores.ports import Accepted, MemoryStore
from shared.stores.states import StateStore
from tests.conformance.build import ANA, ANA_TRAVEL, BEN, BY, YESTERDAY, direction, keep, memory, words_of
from tests.conformance.snapshots import OTHER, PERSON, listed, whole


async def filled(store: MemoryStore, data: DataStore) -> list[str]:
    ids = await keep(store, ANA, memory("likes tea", minute=1, vector=direction(1, 2)), memory("in a run", run_id="r"))
    ids += await keep(store, ANA_TRAVEL, memory("over", expiration_date=YESTERDAY, metadata={"a": [1, "é"]}))
    await store.correct(ANA, ids[0], Patch(words="likes coffee", lexemes="like coffee"), By("zoe", Door.MEM0))
    await data.put(ANA, "settings", {"x": 1}, BY)
    await data.put(ANA, "settings", {"x": 2}, BY)
    await data.set_schema(ANA, "settings", {"type": "object"})
    await keep(store, BEN, memory("another's"))
    return ids


async def test_everything_is_read_in_the_order_of_a_snapshot(
    store: MemoryStore, data: DataStore, states: StateStore
) -> None:
    ids = await filled(store, data)
    found = await whole(states)

    assert [getattr(one, "id", None) for one in found] == [None, ids[2], ids[1], ids[0]]
    kept = [one for one in found if isinstance(one, Kept)]
    assert [one.kind for one in kept] == [Kind.SHORT_TERM, Kind.SESSION, Kind.USER]
    assert all("user_id" not in one.payload for one in kept)
    assert [(one["event"], one["old"], one["new"], one["actor"]) for one in kept[2].history] == [
        ("ADD", None, "likes tea", "ana"),
        ("UPDATE", "likes tea", "likes coffee", "zoe"),
    ]
    assert kept[2].vector == direction(1, 2).astype("<f4").tobytes()


async def test_a_snapshot_restores_everything_as_it_was(
    store: MemoryStore, data: DataStore, states: StateStore
) -> None:
    ids = await filled(store, data)
    before, listing = await whole(states), await listed(store)
    saved = await states.save(PERSON, created="2026-01-01T00:00:00.000000+00:00")
    await store.forget_all(PERSON, BY, confirmed=None)
    await data.put(ANA, "settings", {"x": 3}, BY)
    await keep(store, ANA, memory("new since"))
    restored = await states.restore(PERSON, PERSON, saved.id, BY, respect_forgotten=False)

    assert saved.counts == {"data": 1, "allowances": 0, "shortTerm": 1, "session": 1, "user": 1}
    assert restored is not None
    assert (restored.memories, restored.came_back, restored.replaced, restored.not_embedded) == (3, 3, 1, 0)
    assert await whole(states) == before
    assert await listed(store) == listing
    found = await store.candidates(PERSON, vector=direction(1, 2), lexemes=["coffee"])
    assert {c.memory.id for c in found.found if any(c.terms)} == {ids[0]}
    assert words_of((await store.page(BEN, limit=5)).memories) == ["another's"]


async def test_the_same_content_is_kept_once(store: MemoryStore, states: StateStore) -> None:
    await keep(store, ANA, memory("likes tea"))
    first = await states.save(PERSON, created="2026-01-01T00:00:00.000000+00:00")
    again = await states.save(PERSON, created="2026-02-02T00:00:00.000000+00:00")
    await keep(store, ANA, memory("likes rain"))
    other = await states.save(PERSON, created="2026-03-03T00:00:00.000000+00:00")

    assert again == first
    assert [one.id for one in await states.states(PERSON)] == [other.id, first.id]


async def test_a_snapshot_is_the_persons_own(store: MemoryStore, states: StateStore) -> None:
    await keep(store, ANA, memory("likes tea"))
    saved = await states.save(PERSON, created="2026-01-01T00:00:00.000000+00:00")

    assert await states.state(OTHER, saved.id) is None
    assert await states.part(OTHER, saved.id, 0) is None
    assert await states.restore(OTHER, OTHER, saved.id, BY, respect_forgotten=False) is None
    assert not await states.drop(OTHER, saved.id)
    assert await states.states(OTHER) == []
    assert await states.state(PERSON, saved.id) == saved
    assert await states.part(PERSON, saved.id, 0) is not None
    assert await states.part(PERSON, saved.id, 1) is None


@pytest.mark.parametrize("wrong", ["", "abc", "\x00", "\ud800" * 36, "9" * 9000])
async def test_a_malformed_id_is_unknown(states: StateStore, wrong: str) -> None:
    assert await states.state(PERSON, wrong) is None
    assert await states.part(PERSON, wrong, 0) is None
    assert not await states.drop(PERSON, wrong)
    assert await states.restore(PERSON, PERSON, wrong, BY, respect_forgotten=False) is None


@pytest.mark.field("B104")
async def test_what_was_forgotten_since_stays_forgotten_when_asked(store: MemoryStore, states: StateStore) -> None:
    tea, rain = await keep(store, ANA, memory("likes tea"), memory("likes rain"))
    saved = await states.save(PERSON, created="2026-01-01T00:00:00.000000+00:00")
    await store.forget(ANA, tea, BY)
    respectful = await states.restore(PERSON, PERSON, saved.id, BY, respect_forgotten=True)
    assert respectful is not None
    assert (respectful.memories, respectful.left_out, respectful.came_back) == (1, 1, 0)
    assert [m.id for m in await listed(store)] == [rain]
    again = await states.restore(PERSON, PERSON, saved.id, BY, respect_forgotten=False)

    assert again is not None
    assert (again.memories, again.came_back) == (2, 1)
    assert {m.id for m in await listed(store)} == {tea, rain}
    last = await states.restore(PERSON, PERSON, saved.id, BY, respect_forgotten=True)
    assert last is not None
    assert (last.left_out, last.memories) == (0, 2)


async def test_receipts_say_how_many_snapshots_still_hold_it(store: MemoryStore, states: StateStore) -> None:
    tea, rain, _ = await keep(store, ANA, memory("likes tea"), memory("likes rain"), memory("likes snow"))
    one = await states.save(PERSON, created="2026-01-01T00:00:00.000000+00:00")
    await store.forget(ANA, tea, BY)
    two = await states.save(PERSON, created="2026-01-02T00:00:00.000000+00:00")
    await store.forget(ANA, rain, BY)
    await store.forget_all(ANA, BY, confirmed=None)
    assert [r.held_by_snapshots for r in await store.receipts(PERSON, limit=5)] == [2, 2, 1]
    await states.drop(PERSON, one.id)

    assert [r.held_by_snapshots for r in await store.receipts(PERSON, limit=5)] == [1, 1, 0]
    assert await states.drop(PERSON, two.id)
    assert [r.held_by_snapshots for r in await store.receipts(PERSON, limit=5)] == [0, 0, 0]


async def test_a_restore_raises_the_epoch(store: MemoryStore, states: StateStore) -> None:
    await keep(store, ANA, memory("likes tea"))
    saved = await states.save(PERSON, created="2026-01-01T00:00:00.000000+00:00")
    before = await store.epoch(ANA)
    await states.restore(PERSON, PERSON, saved.id, BY, respect_forgotten=False)

    assert await store.epoch(ANA) != before
    (receipt,) = await store.receipts(PERSON, limit=5)
    assert (receipt.verb, receipt.forgotten, receipt.application) == ("restore", 0, None)
    await store.commit(ANA, [memory("after")], BY, accepted=Accepted(await store.epoch(ANA)))


@pytest.mark.field("B13")
@pytest.mark.field("B14")
async def test_into_another_person_every_memory_gets_an_id_of_its_own(store: MemoryStore, states: StateStore) -> None:
    ids = await keep(store, ANA, memory("likes tea", vector=direction(0, 1)), memory("likes rain"))
    await keep(store, BEN, memory("was before"))
    saved = await states.save(PERSON, created="2026-01-01T00:00:00.000000+00:00")
    restored = await states.restore(OTHER, PERSON, saved.id, By("admin", Door.STATE), respect_forgotten=False)
    theirs = await listed(store, OTHER)

    assert restored is not None
    assert (restored.memories, restored.replaced) == (2, 1)
    assert {m.words for m in theirs} == {"likes tea", "likes rain"}
    assert {m.person for m in theirs} == {"ben"}
    assert not {m.id for m in theirs} & set(ids)
    assert {m.id for m in await listed(store)} == set(ids)
    await states.restore(OTHER, PERSON, saved.id, By("admin", Door.STATE), respect_forgotten=False)
    assert {m.id for m in await listed(store, OTHER)} == {m.id for m in theirs}


async def test_an_erased_person_has_nothing_left(store: MemoryStore, data: DataStore, states: StateStore) -> None:
    await filled(store, data)
    saved = await states.save(PERSON, created="2026-01-01T00:00:00.000000+00:00")
    kept = await states.erase(PERSON, BY, allowances=True, snapshots=False)
    assert (kept.memories, kept.data, kept.allowances, kept.snapshots, kept.held_by_snapshots) == (3, 1, 0, 0, 1)
    assert await whole(states) == []
    assert await states.states(PERSON) == [saved]
    gone = await states.erase(PERSON, BY, allowances=True, snapshots=True)

    assert (gone.memories, gone.snapshots) == (0, 1)
    assert await states.states(PERSON) == []
    assert await data.schema(ANA, "settings") is None
    assert [r.verb for r in await store.receipts(PERSON, limit=5)] == ["erase", "erase"]
    assert len(await listed(store, OTHER)) == 1
