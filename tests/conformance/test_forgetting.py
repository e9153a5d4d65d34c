"""Forgetting: what is named is gone from every read, nothing else is, and a receipt says that it was."""

import asyncio

import pytest

from shared.errors import GrewMeanwhile
from shared.records import By, Door, Patch
from shared.scope import Everything, Reach
from shared.stores.ports import MemoryStore
from tests.conformance.build import ANA, ANA_TRAVEL, BEN, BY, YESTERDAY, direction, keep, keep_many, memory, words_of


async def found(store: MemoryStore, reach: Reach, *lexemes: str) -> set[str]:
    answer = await store.candidates(reach, vector=direction(1), lexemes=lexemes)
    return {candidate.memory.words for candidate in answer.found}


@pytest.mark.field("B50")
async def test_one_is_forgotten_and_the_others_keep_their_words(store: MemoryStore) -> None:
    a, b, c = await keep(store, ANA, memory("apple"), memory("banana"), memory("cherry"))
    assert await found(store, ANA, "apple") == {"apple", "banana", "cherry"}

    assert await store.forget(ANA, a, BY) == 1
    assert await store.forget(ANA, a, BY) == 0
    assert await found(store, ANA, "apple", "banana", "cherry") == {"banana", "cherry"}
    assert {m.id: m.words for m in (await store.page(ANA, limit=5)).memories} == {b: "banana", c: "cherry"}


@pytest.mark.field("B56")
async def test_equal_words_elsewhere_are_still_found(store: MemoryStore) -> None:
    (mine,) = await keep(store, ANA, memory("likes tea"))
    await keep(store, ANA_TRAVEL, memory("likes tea"))
    await keep(store, ANA, memory("likes tea", run_id="r1"))
    await store.forget(ANA, mine, BY)

    assert await found(store, ANA, "tea") == {"likes tea"}
    assert await found(store, ANA_TRAVEL, "tea") == {"likes tea"}


@pytest.mark.field("B4")
async def test_forgetting_all_of_one_person_leaves_the_others(store: MemoryStore) -> None:
    await keep_many(store, ANA, 2)
    theirs = await keep_many(store, BEN, 2)

    assert await store.forget_all(ANA, BY, confirmed=2) == 2
    assert await store.count(ANA) == 0
    assert [m.id for m in (await store.page(BEN, limit=5)).memories] == theirs[::-1]


@pytest.mark.field("B5")
@pytest.mark.parametrize("count", [130, 1001])
async def test_all_means_all(store: MemoryStore, count: int) -> None:
    await keep_many(store, ANA, count)

    assert await store.forget_all(ANA, BY, confirmed=count) == count
    assert (await store.page(ANA, limit=5)).total == 0
    assert await found(store, ANA, "memory") == set()


@pytest.mark.field("B52")
async def test_a_search_in_the_same_process_finds_nothing_any_more(store: MemoryStore) -> None:
    await keep_many(store, ANA, 5)
    assert len(await found(store, ANA, "memory")) == 5
    await store.forget_all(ANA, BY, confirmed=5)

    assert await found(store, ANA, "memory") == set()
    assert await found(store, Everything("ana"), "memory") == set()


async def test_more_than_was_confirmed_is_not_forgotten(store: MemoryStore) -> None:
    await keep_many(store, ANA, 3)
    with pytest.raises(GrewMeanwhile) as refused:
        await store.forget_all(ANA, BY, confirmed=2)

    assert refused.value.total == 3
    assert await store.count(ANA) == 3
    assert await store.receipts(Everything("ana"), limit=5) == []


async def test_less_than_was_confirmed_is_forgotten(store: MemoryStore) -> None:
    await keep_many(store, ANA, 3)

    assert await store.forget_all(ANA, BY, confirmed=9) == 3


async def test_expired_ones_are_forgotten_and_do_not_count_against_the_confirmed(store: MemoryStore) -> None:
    await keep(store, ANA, memory("over", expiration_date=YESTERDAY), memory("live"))

    assert await store.forget_all(ANA, BY, confirmed=1) == 2
    assert await store.count(ANA, show_expired=True) == 0


async def test_everything_of_a_person_is_forgotten_across_applications(store: MemoryStore) -> None:
    await keep_many(store, ANA, 2)
    await keep_many(store, ANA_TRAVEL, 3)
    await keep_many(store, BEN, 1)
    with pytest.raises(GrewMeanwhile):
        await store.forget_all(Everything("ana"), BY, confirmed=4)

    assert await store.forget_all(Everything("ana"), BY, confirmed=5) == 5
    assert await store.applications(Everything("ana")) == []
    assert await store.count(BEN) == 1


async def test_history_goes_with_the_memory(store: MemoryStore) -> None:
    first, second = await keep(store, ANA, memory("likes tea"), memory("likes rain"))
    await store.correct(ANA, first, Patch(words="likes coffee", lexemes="coffee"), BY)
    await store.forget(ANA, first, BY)
    await store.forget_all(ANA, BY, confirmed=None)
    await keep(store, ANA, memory("likes tea", memory_id=first))
    history = await store.history(ANA, first)

    assert await store.history(ANA, second) is None
    assert history is not None
    assert [(revision.old_words, revision.new_words) for revision in history] == [(None, "likes tea")]


async def test_receipts_say_how_many_by_whom_and_never_what(store: MemoryStore) -> None:
    ids = await keep_many(store, ANA, 3, words="secret")
    await keep_many(store, ANA_TRAVEL, 2, words="secret")
    await store.forget(ANA, ids[0], By("zoe", Door.MEM0))
    await store.forget_all(ANA, BY, confirmed=2)
    await store.forget_all(Everything("ana"), BY, confirmed=None)
    receipts = await store.receipts(Everything("ana"), limit=10)

    assert [(r.application, r.forgotten, r.actor, r.door) for r in receipts] == [
        (None, 2, "ana", "apps"),
        ("app:notes", 2, "ana", "apps"),
        ("app:notes", 1, "zoe", "mem0"),
    ]
    assert [r.verb for r in receipts][1:] == ["forget_all", "forget"]
    assert "secret" not in repr(receipts)
    assert await store.receipts(Everything("ben"), limit=10) == []
    assert await store.receipts(Everything("ana"), limit=1, offset=1) == receipts[1:2]


async def test_a_learn_and_a_forget_all_do_not_cross(store: MemoryStore) -> None:
    for round_ in range(5):
        await keep_many(store, ANA, 3, words=f"round {round_}")
        learns = [store.commit(ANA, [memory(f"late {round_} {n}")], BY) for n in range(4)]
        results = await asyncio.gather(*learns, store.forget_all(ANA, BY, confirmed=5), return_exceptions=True)
        left = (await store.page(ANA, limit=50)).memories

        forgotten = results[-1]
        if isinstance(forgotten, GrewMeanwhile):
            assert forgotten.total > 5
            assert len(left) == 7
        else:
            assert isinstance(forgotten, int)
            assert len(left) == 7 - forgotten
            assert all(words.startswith("late") for words in words_of(left))
        await store.forget_all(ANA, BY, confirmed=None)
