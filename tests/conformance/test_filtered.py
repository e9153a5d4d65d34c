"""A filter narrows every read and every forgetting inside the scope, before anything is ranked or cut."""

from __future__ import annotations

from typing import Any

import pytest

from shared.errors import GrewMeanwhile
from shared.filter_grammar import parse
from shared.filters import Filter
from shared.scope import Everything, Scope
from shared.stores.ports import MemoryStore
from tests.conformance.build import ANA, BEN, BY, YESTERDAY, direction, keep, memory, words_of


def where(raw: dict[str, Any]) -> Filter:
    found = parse(raw)
    assert found is not None
    return found


WORK = where({"metadata": {"topic": "work"}})


async def filled(store: MemoryStore) -> None:
    await keep(
        store,
        ANA,
        *(memory(f"home {n}", minute=n, vector=direction(1, 0.01 * n), metadata={"topic": "home"}) for n in range(4)),
        *(memory(f"work {n}", minute=9 + n, vector=direction(-1, n), metadata={"topic": "work"}) for n in range(6)),
    )
    await keep(store, BEN, memory("work other", metadata={"topic": "work"}))


@pytest.mark.field("B2")
async def test_a_filtered_search_gives_as_many_as_match(store: MemoryStore) -> None:
    await filled(store)
    answer = await store.candidates(ANA, vector=direction(1), lexemes=["home", "work"], limit=5, where=WORK)

    assert {c.memory.words for c in answer.found} <= {f"work {n}" for n in range(6)}
    assert len(answer.found) >= 5
    assert (answer.size, list(answer.frequencies)) == (6, [0, 6])


async def test_a_filtered_list_pages_and_counts_only_what_matches(store: MemoryStore) -> None:
    await filled(store)
    first = await store.page(ANA, limit=4, where=WORK)
    second = await store.page(ANA, limit=4, where=WORK, after=first.next)

    assert words_of([*first.memories, *second.memories]) == [f"work {n}" for n in (5, 4, 3, 2, 1, 0)]
    assert (first.total, second.total, second.next) == (6, 6, None)
    assert await store.count(ANA, where=WORK) == 6
    assert await store.count(Everything("ana"), where=WORK) == 6


async def test_a_filtered_forget_all_forgets_only_what_matches(store: MemoryStore) -> None:
    await filled(store)
    await keep(store, ANA, memory("work over", metadata={"topic": "work"}, expiration_date=YESTERDAY))
    with pytest.raises(GrewMeanwhile):
        await store.forget_all(ANA, BY, confirmed=5, where=WORK)

    assert await store.forget_all(ANA, BY, confirmed=6, where=WORK) == 7
    assert await store.count(ANA) == 4
    assert await store.count(BEN) == 1


@pytest.mark.field("B11")
@pytest.mark.field("S2")
@pytest.mark.parametrize(
    "raw",
    [
        {"OR": [{"metadata": {"topic": "work"}}, {"metadata": {"topic": "home"}}]},
        {"NOT": [{"metadata": {"topic": "nothing"}}]},
        {"OR": [{"user_id": "ben"}, {"metadata": {"topic": "work"}}]},
        {"AND": [{"user_id": "ben"}]},
        {"NOT": [{"user_id": "ana"}]},
    ],
    ids=str,
)
async def test_no_filter_widens_a_scope(store: MemoryStore, raw: dict[str, Any]) -> None:
    await filled(store)
    for reach in (ANA, Everything("ana"), Scope("ana", "app:other")):
        page = await store.page(reach, limit=50, where=where(raw))
        found = await store.candidates(reach, vector=direction(1), lexemes=["other"], where=where(raw))

        assert all(m.person == "ana" for m in [*page.memories, *(c.memory for c in found.found)])
    before = await store.count(BEN)
    await store.forget_all(ANA, BY, confirmed=None, where=where(raw))
    assert await store.count(BEN) == before == 1


async def test_expired_ones_that_match_are_hidden_too(store: MemoryStore) -> None:
    await filled(store)
    await keep(store, ANA, memory("work over", metadata={"topic": "work"}, expiration_date=YESTERDAY))

    assert await store.count(ANA, where=WORK) == 6
    assert await store.count(ANA, where=WORK, show_expired=True) == 7
    found = await store.candidates(ANA, vector=direction(1), lexemes=["over"], where=WORK)
    assert found.size == 6
