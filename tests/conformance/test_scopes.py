"""A person never reads, changes or forgets what is another's, nor does one application what is another's."""

import pytest

from shared.errors import ForgottenMeanwhile
from shared.records import Add, Delete, Event, Patch, Update
from shared.scope import Everything, Reach, Scope
from shared.stores.ports import Accepted, MemoryStore
from tests.conformance.build import ANA, ANA_TRAVEL, BEN, BY, direction, keep, memory, words_of

ELSEWHERE: list[Reach] = [BEN, ANA_TRAVEL, Everything("ben"), Scope("an", "app:notes"), Scope("ana", "app:note")]


@pytest.mark.parametrize("reach", ELSEWHERE, ids=str)
async def test_out_of_reach_is_unknown(store: MemoryStore, reach: Reach) -> None:
    (kept,) = await keep(store, ANA, memory("mine"))

    assert await store.get(reach, kept) is None
    assert await store.history(reach, kept) is None
    assert await store.correct(reach, kept, Patch(words="theirs"), BY) is None
    assert await store.forget(reach, kept, BY) == 0
    assert await store.count(reach) == 0
    assert list((await store.candidates(reach, vector=direction(1), lexemes=["mine"])).found) == []
    mine = await store.get(ANA, kept)
    assert mine is not None
    assert mine.words == "mine"


@pytest.mark.field("B16")
async def test_names_that_resemble_each_other_are_different_people(store: MemoryStore) -> None:
    people = ["ana", "ana1", "an", "ANA", "ana%", "ana_", "Ana", "añа", "%", "_", "ana'--", '"ana"', "ana\\", "a*"]
    for person in people:
        await keep(store, Scope(person, "app:notes"), memory(f"of {person}"))

    for person in people:
        scope = Scope(person, "app:notes")
        assert words_of((await store.page(scope, limit=50)).memories) == [f"of {person}"]
        assert words_of((await store.page(Everything(person), limit=50)).memories) == [f"of {person}"]
        found = (await store.candidates(scope, vector=direction(1), lexemes=["of"])).found
        assert [one.memory.words for one in found] == [f"of {person}"]


@pytest.mark.field("S1")
async def test_the_wildcard_reaches_nobody(store: MemoryStore) -> None:
    await keep(store, ANA, memory("mine"))

    for reach in (Scope("*", "*"), Scope("*", "app:notes"), Scope("ana", "*"), Everything("*")):
        assert await store.count(reach) == 0
        assert await store.forget_all(reach, BY, confirmed=None) == 0
    assert await store.count(ANA) == 1


async def test_a_payload_never_says_whose_it_is(store: MemoryStore) -> None:
    (kept,) = await keep(store, ANA, memory("mine", payload={"user_id": "ben", "agent_id": "app:travel"}))
    await store.correct(ANA, kept, Patch(payload={"user_id": "ben", "agent_id": "app:travel", "colour": "red"}), BY)
    found = await store.get(ANA, kept)

    assert found is not None
    assert (found.person, found.application, found.metadata) == ("ana", "app:notes", {"colour": "red"})
    assert await store.count(BEN) == await store.count(ANA_TRAVEL) == 0


async def test_a_learn_changes_only_what_is_in_its_scope(store: MemoryStore) -> None:
    (kept,) = await keep(store, ANA, memory("mine"))
    changes = [Update(kept, "theirs", "their", direction(1)), Delete(kept)]

    assert await store.commit(BEN, changes, BY) == []
    assert await store.commit(ANA_TRAVEL, changes, BY) == []
    found = await store.get(ANA, kept)
    assert found is not None
    assert found.words == "mine"


async def test_everything_reaches_all_applications_by_id(store: MemoryStore) -> None:
    (note,) = await keep(store, ANA, memory("note"))
    (trip,) = await keep(store, ANA_TRAVEL, memory("trip"))
    await store.correct(Everything("ana"), trip, Patch(words="journey"), BY)

    assert await store.forget(Everything("ana"), note, BY) == 1
    assert words_of((await store.page(ANA_TRAVEL, limit=5)).memories) == ["journey"]


async def test_an_epoch_is_of_one_scope_and_moves_with_the_person(store: MemoryStore) -> None:
    before = [await store.epoch(scope) for scope in (ANA, ANA_TRAVEL, BEN)]
    await store.forget_all(ANA, BY, confirmed=None)
    middle = [await store.epoch(scope) for scope in (ANA, ANA_TRAVEL, BEN)]
    await store.forget_all(Everything("ana"), BY, confirmed=None)
    after = [await store.epoch(scope) for scope in (ANA, ANA_TRAVEL, BEN)]

    assert [now != then for now, then in zip(middle, before, strict=True)] == [True, False, False]
    assert [now != then for now, then in zip(after, middle, strict=True)] == [True, True, False]


@pytest.mark.parametrize("reach", [ANA, Everything("ana")], ids=str)
async def test_what_was_accepted_before_a_forget_all_is_not_written(store: MemoryStore, reach: Reach) -> None:
    accepted = Accepted(await store.epoch(ANA))
    await store.forget_all(reach, BY, confirmed=None)

    with pytest.raises(ForgottenMeanwhile):
        await store.commit(ANA, [memory("late")], BY, accepted=accepted)
    assert await store.count(ANA) == 0
    outcomes = await store.commit(ANA, [memory("new")], BY, accepted=Accepted(await store.epoch(ANA)))
    assert [outcome.event for outcome in outcomes] == [Event.ADD]


async def test_hostile_text_is_kept_as_text(store: MemoryStore) -> None:
    texts = ["'; DROP TABLE memories; --", "🧠" * 500, "\u202eRTL", "%s %d {} $1 ?", "*", "a\u0301", "x" * 8000]
    adds: list[Add] = [memory(text, run_id=text[:40], metadata={text[:100]: text}) for text in texts]
    ids = await keep(store, ANA, *adds)

    for kept, text in zip(ids, texts, strict=True):
        found = await store.get(ANA, kept)
        assert found is not None
        assert (found.words, found.metadata[text[:100]]) == (text, text)
