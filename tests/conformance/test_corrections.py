"""Corrections: only what is said changes, the vector is known to be stale, and the same again is no change."""

from uuid import UUID, uuid5

import pytest

from shared.payloads import hash_of
from shared.records import By, Door, Event, Memory, Patch
from shared.stores.ports import MemoryStore
from tests.conformance.build import ANA, BEN, BY, YESTERDAY, direction, keep, memory


async def one(store: MemoryStore, memory_id: str) -> Memory:
    found = await store.get(ANA, memory_id)
    assert found is not None
    return found


async def test_new_words_are_kept_with_who_corrected_them(store: MemoryStore) -> None:
    (kept,) = await keep(store, ANA, memory("likes tea", minute=1, metadata={"mood": "calm"}, run_id="r1"))
    answer = await store.correct(
        ANA, kept, Patch(words="likes coffee", lexemes="likes like coffee"), By("zoe", Door.MEM0)
    )
    found = await one(store, kept)

    assert answer == found
    assert (found.words, found.hash) == ("likes coffee", hash_of("likes coffee"))
    assert found.payload["text_lemmatized"] == "likes like coffee"
    assert found.created_at == "2026-01-01T00:01:00.000000+00:00"
    assert (found.corrected_by, found.corrected_at) == ("zoe", found.updated_at)
    assert found.updated_at != found.created_at
    assert (found.metadata, found.run_id) == ({"mood": "calm"}, "r1")


async def test_the_same_words_again_change_nothing(store: MemoryStore) -> None:
    (kept,) = await keep(store, ANA, memory("likes tea", minute=1))
    before = await one(store, kept)
    answer = await store.correct(ANA, kept, Patch(words="likes tea", lexemes="x", vector=direction(0, 1)), BY)
    history = await store.history(ANA, kept)

    assert answer == before == await one(store, kept)
    assert history is not None
    assert [revision.event for revision in history] == [Event.ADD]


async def test_the_ids_of_a_history_tell_nothing_of_other_people(store: MemoryStore) -> None:
    (kept,) = await keep(store, ANA, memory("likes tea"))
    await keep(store, BEN, *(memory(f"fact {n}") for n in range(5)))
    await store.correct(ANA, kept, Patch(words="likes coffee", lexemes="coffee"), BY)
    history = await store.history(ANA, kept)

    assert history is not None
    assert [revision.id for revision in history] == [str(uuid5(UUID(kept), str(place))) for place in (0, 1)]


async def test_words_corrected_without_a_vector_leave_the_old_one_and_say_so(store: MemoryStore) -> None:
    (kept,) = await keep(store, ANA, memory("likes tea", vector=direction(1)))
    await store.correct(ANA, kept, Patch(words="likes coffee", lexemes="coffee"), BY)
    first = await one(store, kept)
    await store.correct(ANA, kept, Patch(words="likes rain", lexemes="rain"), BY)
    second = await one(store, kept)
    (found,) = (await store.candidates(ANA, vector=direction(1), lexemes=["rain", "tea", "coffee"])).found

    assert first.payload["vector_of"] == second.payload["vector_of"] == hash_of("likes tea")
    assert found.cosine == pytest.approx(1)
    assert list(found.terms) == [1, 0, 0]


async def test_a_fresh_vector_ends_the_staleness(store: MemoryStore) -> None:
    (kept,) = await keep(store, ANA, memory("likes tea", vector=direction(1)))
    await store.correct(ANA, kept, Patch(words="likes coffee", lexemes="coffee"), BY)
    await store.correct(ANA, kept, Patch(words="likes rain", lexemes="rain", vector=direction(0, 1)), BY)
    (found,) = (await store.candidates(ANA, vector=direction(0, 1), lexemes=[])).found

    assert "vector_of" not in found.memory.payload
    assert found.cosine == pytest.approx(1)


async def test_words_corrected_back_fit_the_vector_again(store: MemoryStore) -> None:
    (kept,) = await keep(store, ANA, memory("likes tea"))
    await store.correct(ANA, kept, Patch(words="likes coffee", lexemes="coffee"), BY)
    await store.correct(ANA, kept, Patch(words="likes tea", lexemes="tea"), BY)

    assert "vector_of" not in (await one(store, kept)).payload


async def test_a_change_that_is_no_correction_is_not_marked_as_one(store: MemoryStore) -> None:
    (kept,) = await keep(store, ANA, memory("likes tea"))
    await store.correct(ANA, kept, Patch(words="likes coffee", lexemes="coffee", correction=False), BY)

    assert (await one(store, kept)).corrected_by is None


@pytest.mark.field("B49")
async def test_a_payload_member_is_merged_and_none_removes_it(store: MemoryStore) -> None:
    (kept,) = await keep(store, ANA, memory("likes tea", metadata={"a": 1, "b": {"c": [2]}, "d": 3}))
    await store.correct(ANA, kept, Patch(payload={"a": 9, "d": None, "e": "new", "unknown": None}), BY)
    found = await one(store, kept)

    assert found.metadata == {"a": 9, "b": {"c": [2]}, "e": "new"}
    assert found.words == "likes tea"
    assert found.corrected_by is None


async def test_the_same_payload_again_changes_nothing(store: MemoryStore) -> None:
    (kept,) = await keep(store, ANA, memory("likes tea", minute=1, metadata={"a": 1}))
    before = await one(store, kept)
    await store.correct(ANA, kept, Patch(payload={"a": 1, "missing": None}), BY)

    assert await one(store, kept) == before


@pytest.mark.field("B38")
async def test_an_expired_memory_is_revived(store: MemoryStore) -> None:
    (kept,) = await keep(store, ANA, memory("likes tea", expiration_date=YESTERDAY))
    assert await store.count(ANA) == 0
    await store.correct(ANA, kept, Patch(payload={"expiration_date": None}), BY)

    assert await store.count(ANA) == 1
    assert len((await store.candidates(ANA, vector=direction(1), lexemes=[])).found) == 1


async def test_a_corrected_memory_keeps_its_place_in_the_list(store: MemoryStore) -> None:
    ids = await keep(store, ANA, *(memory(f"thing {n}", minute=n) for n in range(3)))
    await store.correct(ANA, ids[0], Patch(words="corrected", lexemes="corrected"), BY)

    assert [m.id for m in (await store.page(ANA, limit=5)).memories] == ids[::-1]


async def test_old_and_new_words_are_in_the_history(store: MemoryStore) -> None:
    (kept,) = await keep(store, ANA, memory("likes tea"))
    await store.correct(ANA, kept, Patch(words="likes coffee", lexemes="coffee"), By("zoe", Door.PLATFORM))
    await store.correct(ANA, kept, Patch(payload={"a": 1}), BY)
    history = await store.history(ANA, kept)

    assert history is not None
    last = history[-1]
    assert (last.event, last.old_words, last.new_words) == (Event.UPDATE, "likes tea", "likes coffee")
    assert (last.actor, last.door) == ("zoe", "platform")
