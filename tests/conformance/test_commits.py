"""What a learn writes: all of it or nothing, duplicates once, outcomes that say what became of each change."""

import asyncio

import pytest

from shared.records import By, Delete, Door, Event, Update
from shared.scope import Everything
from shared.stores.ports import MemoryStore
from tests.conformance.build import ANA, ANA_TRAVEL, BEN, BY, YESTERDAY, direction, keep, memory, words_of


async def test_a_learn_without_changes_writes_nothing(store: MemoryStore) -> None:
    assert await store.commit(ANA, [], BY) == []
    assert await store.count(ANA) == 0


async def test_an_added_memory_is_there_with_its_times(store: MemoryStore) -> None:
    add = memory("likes tea", minute=1, run_id="r1", metadata={"mood": "calm"}, categories=("food",))
    (outcome,) = await store.commit(ANA, [add], BY)
    found = await store.get(ANA, add.id)

    assert (outcome.id, outcome.words, outcome.event) == (add.id, "likes tea", Event.ADD)
    assert found is not None
    assert found.payload == add.payload | {"user_id": "ana", "agent_id": "app:notes"}
    assert found.created_at == found.updated_at == "2026-01-01T00:01:00.000000+00:00"


@pytest.mark.field("B56")
async def test_the_same_words_again_are_kept_once(store: MemoryStore) -> None:
    (first,) = await keep(store, ANA, memory("likes tea"))
    again = await store.commit(ANA, [memory("likes tea"), memory("likes tea")], BY)

    assert [(outcome.id, outcome.event) for outcome in again] == [(first, Event.NONE)] * 2
    assert await store.count(ANA) == 1


async def test_the_same_words_twice_in_one_learn_are_kept_once(store: MemoryStore) -> None:
    one, two = await store.commit(ANA, [memory("likes tea"), memory("likes tea")], BY)

    assert (one.event, two.event, two.id) == (Event.ADD, Event.NONE, one.id)
    assert await store.count(ANA) == 1


async def test_the_same_words_are_another_memory_elsewhere(store: MemoryStore) -> None:
    await keep(store, ANA, memory("likes tea"))
    await keep(store, ANA, memory("likes tea", run_id="r1"))
    await keep(store, ANA, memory("likes tea", run_id="r2"))
    await keep(store, ANA_TRAVEL, memory("likes tea"))
    await keep(store, BEN, memory("likes tea"))
    (outcome,) = await store.commit(ANA, [memory("likes tea", run_id="r2")], BY)

    assert await store.count(ANA) == 3
    assert await store.count(ANA_TRAVEL) == await store.count(BEN) == 1
    assert outcome.event is Event.NONE


async def test_an_expired_duplicate_does_not_count(store: MemoryStore) -> None:
    (over,) = await keep(store, ANA, memory("likes tea", expiration_date=YESTERDAY))
    (outcome,) = await store.commit(ANA, [memory("likes tea")], BY)

    assert outcome.event is Event.ADD
    assert outcome.id != over
    assert await store.count(ANA) == 1


async def test_words_that_were_corrected_are_a_duplicate_of_what_they_say_now(store: MemoryStore) -> None:
    (kept,) = await keep(store, ANA, memory("likes tea"))
    await store.commit(ANA, [Update(kept, "likes coffee", "like coffee", direction(1))], BY)
    old, new = await store.commit(ANA, [memory("likes tea"), memory("likes coffee")], BY)

    assert old.event is Event.ADD
    assert (new.event, new.id) == (Event.NONE, kept)


async def test_an_update_changes_words_vector_and_metadata(store: MemoryStore) -> None:
    (kept,) = await keep(store, ANA, memory("likes tea", vector=direction(1), minute=1, metadata={"a": 1, "b": 2}))
    update = Update(kept, "likes coffee", "likes like coffee", direction(0, 1), {"b": 3, "c": 4})
    (outcome,) = await store.commit(ANA, [update], BY)
    found = await store.get(ANA, kept)

    assert (outcome.event, outcome.words, outcome.old_words) == (Event.UPDATE, "likes coffee", "likes tea")
    assert found is not None
    assert (found.words, found.metadata) == ("likes coffee", {"a": 1, "b": 3, "c": 4})
    assert found.created_at == "2026-01-01T00:01:00.000000+00:00"
    assert found.updated_at != found.created_at
    assert (found.corrected_by, found.corrected_at) == (None, None)
    (near,) = (await store.candidates(ANA, vector=direction(0, 1), lexemes=["coffee", "tea"])).found
    assert near.cosine == pytest.approx(1)
    assert list(near.terms) == [1, 0]


async def test_an_update_with_the_same_words_is_none(store: MemoryStore) -> None:
    (kept,) = await keep(store, ANA, memory("likes tea"))
    (outcome,) = await store.commit(ANA, [Update(kept, "likes tea", "like tea", direction(1))], BY)

    assert (outcome.id, outcome.event) == (kept, Event.NONE)


async def test_a_deleted_memory_is_forgotten_with_a_receipt(store: MemoryStore) -> None:
    kept, other = await keep(store, ANA, memory("likes tea"), memory("likes rain"))
    (outcome,) = await store.commit(ANA, [Delete(kept)], BY)

    assert (outcome.id, outcome.event) == (kept, Event.DELETE)
    assert await store.get(ANA, kept) is None
    assert await store.history(ANA, kept) is None
    assert await store.get(ANA, other) is not None
    (receipt,) = await store.receipts(Everything("ana"), limit=10)
    assert (receipt.verb, receipt.forgotten) == ("forget", 1)


@pytest.mark.parametrize(
    "unknown", ["0b8a7c1e-5d0f-4c69-9a0b-1f5a3c2d4e6f", "abc", "", "0", "\x00", "\ud800", "a" * 5000]
)
async def test_an_id_that_an_llm_made_up_is_skipped(store: MemoryStore, unknown: str) -> None:
    changes = [Update(unknown, "x", "x", direction(1)), Delete(unknown), memory("likes tea")]
    outcomes = await store.commit(ANA, changes, BY)

    assert [outcome.event for outcome in outcomes] == [Event.ADD]


async def test_what_is_immutable_is_not_changed_by_a_learn(store: MemoryStore) -> None:
    (kept,) = await keep(store, ANA, memory("born in Porto", immutable=True))
    outcomes = await store.commit(ANA, [Update(kept, "born in Lima", "lima", direction(1)), Delete(kept)], BY)

    assert outcomes == []
    assert words_of((await store.page(ANA, limit=5)).memories) == ["born in Porto"]


async def test_changes_are_made_in_the_order_given(store: MemoryStore) -> None:
    (kept,) = await keep(store, ANA, memory("likes tea"))
    again = memory("likes tea")
    outcomes = await store.commit(ANA, [Delete(kept), again], BY)

    assert [(outcome.id, outcome.event) for outcome in outcomes] == [(kept, Event.DELETE), (again.id, Event.ADD)]
    assert words_of((await store.page(ANA, limit=5)).memories) == ["likes tea"]


async def test_a_learn_that_fails_leaves_nothing(store: MemoryStore) -> None:
    (taken,) = await keep(store, BEN, memory("theirs"))
    with pytest.raises(Exception):  # noqa: B017 (which error it is, is the engine's)
        await store.commit(ANA, [memory("one"), memory("two", memory_id=taken), memory("three")], BY)

    assert await store.count(ANA) == 0
    assert words_of((await store.page(BEN, limit=5)).memories) == ["theirs"]


@pytest.mark.field("B61")
@pytest.mark.field("B65")
async def test_parallel_learns_all_land(store: MemoryStore) -> None:
    adds = [memory(f"thing {n}") for n in range(40)]
    await asyncio.gather(*(store.commit(scope, [add], BY) for add in adds for scope in [ANA]))

    assert {m.id for m in (await store.page(ANA, limit=100)).memories} == {add.id for add in adds}


async def test_the_same_words_learned_at_once_are_kept_once(store: MemoryStore) -> None:
    results = await asyncio.gather(*(store.commit(ANA, [memory("likes tea")], BY) for _ in range(12)))

    assert await store.count(ANA) == 1
    assert sorted(outcome.event for (outcome,) in results) == [Event.ADD] + [Event.NONE] * 11


@pytest.mark.field("B64")
async def test_readers_of_history_do_not_disturb_learning(store: MemoryStore) -> None:
    ids = await keep(store, ANA, *(memory(f"thing {n}") for n in range(5)))
    reads = [store.history(ANA, kept) for kept in ids * 6]
    writes = [store.commit(ANA, [memory(f"new {n}")], BY) for n in range(30)]
    results = await asyncio.gather(*reads, *writes)

    assert all(results)
    assert await store.count(ANA) == 35


async def test_history_says_who_did_what_through_which_door(store: MemoryStore) -> None:
    machine = By("machine", Door.MCP)
    (kept,) = await keep(store, ANA, memory("likes tea"))
    await store.commit(ANA, [Update(kept, "likes coffee", "coffee", direction(1))], machine)
    await store.commit(ANA, [Update(kept, "likes rain", "rain", direction(1))], BY)
    revisions = await store.history(ANA, kept)

    assert revisions is not None
    assert [(r.event, r.old_words, r.new_words, r.actor, r.door) for r in revisions] == [
        (Event.ADD, None, "likes tea", "ana", "apps"),
        (Event.UPDATE, "likes tea", "likes coffee", "machine", "mcp"),
        (Event.UPDATE, "likes coffee", "likes rain", "ana", "apps"),
    ]
    assert {(r.memory_id, r.person, r.application) for r in revisions} == {(kept, "ana", "app:notes")}
    assert [r.at for r in revisions] == sorted(r.at for r in revisions)
    assert len({r.id for r in revisions}) == 3
