"""A filter narrows every read and forget-all alike, and never leaves its scope."""

import pytest

from shared.filter_grammar import parse
from shared.filters import Filter
from shared.scope import Everything
from shared.stores.ports import MemoryStore
from tests.conformance.build import ANA, ANA_TRAVEL, BEN, BY, YESTERDAY, direction, keep, memory, words_of

RED = parse({"metadata": {"colour": "red"}})


async def filled(store: MemoryStore) -> None:
    await keep(
        store,
        ANA,
        memory("apple", minute=1, metadata={"colour": "red"}, run_id="r1"),
        memory("sky", minute=2, metadata={"colour": "blue"}),
        memory("air", minute=3, inner_agent="bot"),
        memory("old apple", minute=4, metadata={"colour": "red"}, expiration_date=YESTERDAY),
    )
    await keep(store, ANA_TRAVEL, memory("sunset", minute=5, metadata={"colour": "red"}))
    await keep(store, BEN, memory("rose", minute=6, metadata={"colour": "red"}))


@pytest.mark.field("B23")
async def test_lists_counts_and_searches_read_the_same(store: MemoryStore) -> None:
    await filled(store)

    for reach, wanted in ((ANA, ["apple"]), (Everything("ana"), ["sunset", "apple"])):
        page = await store.page(reach, limit=10, where=RED)
        found = await store.candidates(reach, vector=direction(1), lexemes=["appl"], where=RED)

        assert words_of(page.memories) == wanted
        assert page.total == await store.count(reach, where=RED) == found.size == len(wanted)
        assert sorted(one.memory.words for one in found.found) == sorted(wanted)


async def test_a_filtered_list_pages_without_repeats_and_counts_what_matches(store: MemoryStore) -> None:
    await keep(store, ANA, *(memory(f"m{n}", minute=n, metadata={"even": n % 2 == 0}) for n in range(7)))
    even = parse({"metadata": {"even": True}})

    first = await store.page(ANA, limit=3, where=even)
    rest = await store.page(ANA, limit=3, where=even, after=first.next)

    assert words_of([*first.memories, *rest.memories]) == ["m6", "m4", "m2", "m0"]
    assert (first.total, rest.total, rest.next) == (4, 4, None)


@pytest.mark.field("S1")
@pytest.mark.field("S2")
@pytest.mark.parametrize(
    "raw",
    [
        {"user_id": "ben"},
        {"AND": [{"user_id": "ben"}]},
        {"OR": [{"user_id": "ben"}, {"user_id": "ana"}]},
        {"NOT": [{"user_id": "ana"}]},
        {"user_id": {"in": ["ana", "ben"]}},
        {"user_id": {"ne": "ana"}},
        {"user_id": "*"},
        {"app_id": "*"},
        {"metadata": {"colour": {"ne": "' OR 1=1 --"}}},
    ],
)
async def test_no_filter_reaches_another_persons(store: MemoryStore, raw: object) -> None:
    await filled(store)
    where = parse(raw)

    assert isinstance(where, Filter)
    for reach in (ANA, Everything("ana")):
        page = await store.page(reach, limit=10, where=where, show_expired=True)
        assert "rose" not in words_of(page.memories)
        assert page.total <= 5


async def test_forget_all_of_a_filter_leaves_the_rest(store: MemoryStore) -> None:
    await filled(store)

    assert await store.forget_all(ANA, BY, confirmed=None, where=RED) == 2
    assert words_of((await store.page(ANA, limit=10, show_expired=True)).memories) == ["air", "sky"]
    assert words_of((await store.page(ANA_TRAVEL, limit=10)).memories) == ["sunset"]


async def test_a_times_that_cannot_be_read_is_in_no_span(store: MemoryStore) -> None:
    await keep(
        store, ANA, memory("dated", minute=1), memory("undated", payload={"created_at": "soon", "updated_at": None})
    )
    for raw in (
        {"created_at": {"lt": "2999-01-01"}},
        {"updated_at": {"gte": "1900-01-01"}},
        {"timestamp": {"lte": "2999-01-01"}},
    ):
        assert words_of((await store.page(ANA, limit=10, where=parse(raw))).memories) == ["dated"]


async def test_expired_ones_are_hidden_from_a_filter_until_asked_for(store: MemoryStore) -> None:
    await filled(store)
    past = parse({"expiration_date": {"lte": YESTERDAY}})

    assert await store.count(ANA, where=past) == 0
    assert await store.count(ANA, where=past, show_expired=True) == 1


async def test_icontains_folds_case_beyond_ascii(store: MemoryStore) -> None:
    await keep(store, ANA, memory("ΟΔΥΣΣΕΥΣ likes Straße", minute=1))

    assert await store.count(ANA, where=parse({"keywords": {"icontains": "οδυσσευσ LIKES STRAßE"}})) == 1
    assert await store.count(ANA, where=parse({"keywords": {"contains": "οδυσσευσ"}})) == 0
