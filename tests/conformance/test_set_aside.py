"""What the embedder refuses is set aside, the same on both engines: it holds nobody up and is not lost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from shared.db.pool import EVERYBODY
from shared.errors import Unavailable
from shared.maintaining import AT_ONCE, Step, refresh_some
from shared.records import Patch, Vector
from shared.stores.local.store import LocalStore
from shared.stores.maintenance import Maintenance
from shared.stores.pg.store import PostgresStore
from shared.stores.ports import MemoryStore
from shared.words import lemmatized
from tests.conformance.build import ANA, BY, DIMENSIONS, direction, keep, memory
from tests.conformance.test_maintenance import maintenance  # noqa: F401 (a fixture)


class Picky:
    """Refuses every batch in which a text says so; or all of them."""

    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self.away = False
        self.calls = 0

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.calls += 1
        if self.away or any("refused" in text for text in texts):
            raise Unavailable("The embedder failed.")
        return [np.asarray(direction(0, 0, 1)) for _ in texts]


async def waiting(store: MemoryStore, *words: str) -> list[str]:
    """Memories that were corrected to these words without an embedder; their ids."""
    ids = await keep(store, ANA, *(memory(f"before {number}") for number in range(len(words))))
    for memory_id, said in zip(ids, words, strict=True):
        await store.correct(ANA, memory_id, Patch(words=said, lexemes=said), BY)
    return ids


async def all_steps(maintenance: Maintenance, embedder: Picky) -> Step:  # noqa: F811 (the fixture's value)
    """From the first to the last."""
    found = refused = 0
    after = ""
    while True:
        step = await refresh_some(maintenance, embedder, after=after)
        found, refused, after = found + step.found, refused + step.set_aside, step.after
        if not after:
            return Step(found, after, refused)


@pytest.mark.fault("The embedder refuses one text, always", "it is set aside and found by its words; all others are embedded")  # fmt: skip
async def test_what_is_refused_is_set_aside_and_the_rest_goes_on(
    store: MemoryStore,
    maintenance: Maintenance,  # noqa: F811 (as above)
) -> None:
    said = [f"well {number}" for number in range(2 * AT_ONCE)]
    said[3] = said[40] = "running shoes are refused"
    ids = await waiting(store, *said)
    step = await all_steps(maintenance, Picky())

    assert step.set_aside == 2
    for memory_id, words in zip(ids, said, strict=True):
        kept = await store.get(ANA, memory_id)
        assert kept is not None
        assert ("vector_of" in kept.payload) == ("refused" in words)
        assert kept.payload["text_lemmatized"] == lemmatized(words)
    assert await maintenance.stale(after="", limit=10) == []


async def test_what_was_set_aside_is_tried_again_after_a_while_or_once_it_is_changed(
    store: MemoryStore,
    maintenance: Maintenance,  # noqa: F811 (as above)
) -> None:
    first, second = await waiting(store, "refused one", "refused two")
    await all_steps(maintenance, Picky())
    await store.correct(ANA, first, Patch(words="well", lexemes="well"), BY)
    [changed] = await maintenance.stale(after="", limit=10)
    assert changed.memory.id == first
    await all_steps(maintenance, Picky())
    kept = await store.get(ANA, first)
    assert kept is not None
    assert "vector_of" not in kept.payload
    other = await store.get(ANA, second)
    assert other is not None
    await maintenance.set_aside(changed.__class__(ANA, other, meaning=True), seconds=-1)

    assert [one.memory.id for one in await maintenance.stale(after="", limit=10)] == [second]


async def test_a_memory_that_was_changed_meanwhile_is_not_set_aside(
    store: MemoryStore,
    maintenance: Maintenance,  # noqa: F811 (as above)
) -> None:
    [kept] = await waiting(store, "refused")
    [stale] = await maintenance.stale(after="", limit=10)
    await store.correct(ANA, kept, Patch(words="well", lexemes="well"), BY)
    await maintenance.set_aside(stale, seconds=60)

    assert [one.memory.words for one in await maintenance.stale(after="", limit=10)] == ["well"]


async def test_an_embedder_that_is_away_is_no_texts_fault(
    store: MemoryStore,
    maintenance: Maintenance,  # noqa: F811 (as above)
) -> None:
    await waiting(store, *(f"well {number}" for number in range(8)))
    embedder = Picky()
    embedder.away = True
    with pytest.raises(Unavailable):
        await refresh_some(maintenance, embedder)

    assert embedder.calls == 2, "the texts, and whether it embeds anything"
    assert len(await maintenance.stale(after="", limit=10)) == 8


@pytest.mark.parametrize("by", ["forget", "forget_all"])
async def test_a_memory_that_was_set_aside_is_in_no_table_when_it_is_forgotten(
    store: MemoryStore,
    maintenance: Maintenance,  # noqa: F811 (as above)
    by: str,
) -> None:
    [memory_id] = await waiting(store, "refused always")
    await all_steps(maintenance, Picky())
    assert await aside(store) == [memory_id]

    if by == "forget":
        await store.forget(ANA, memory_id, BY)
    else:
        await store.forget_all(ANA, BY, confirmed=None)

    assert await aside(store) == []


async def aside(store: MemoryStore) -> list[str]:
    """The ids that are set aside."""
    if isinstance(store, LocalStore):
        sql = "SELECT id FROM stale WHERE until IS NOT NULL"
        return await store.database.read(lambda connection: [row[0] for row in connection.execute(sql)])
    assert isinstance(store, PostgresStore)
    async with store._database.connection(EVERYBODY) as connection:
        return [str(row[0]) for row in await connection.fetch("SELECT memory_id FROM runtime_memory.set_aside")]
