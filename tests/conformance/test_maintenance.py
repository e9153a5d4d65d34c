"""Upkeep, the same on both engines: meaning and lexemes follow the words, and what has expired goes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from shared.maintaining import refresh_some, sweep_expired
from shared.named import Named, naming
from shared.records import By, Door, Patch, Vector
from shared.scope import Everything
from shared.stores.local.maintenance import LocalMaintenance
from shared.stores.local.store import LocalStore
from shared.stores.maintenance import Maintenance
from shared.stores.pg.maintenance import PostgresMaintenance
from shared.stores.ports import MemoryStore
from shared.words import lemmatized
from tests.conformance.build import ANA, BEN, BY, DIMENSIONS, direction, keep, memory


@pytest.fixture
def maintenance(store: MemoryStore) -> Maintenance:
    if isinstance(store, LocalStore):
        return LocalMaintenance(store.database, dimensions=DIMENSIONS)
    return PostgresMaintenance(store._database, store._collection)


class Embedder:
    """Every text means the same direction; it notes what it was asked."""

    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.asked += texts
        return [np.asarray(direction(0, 0, 1)) for _ in texts]


async def refreshed(maintenance: Maintenance) -> list[str]:
    embedder, after = Embedder(), ""
    while True:
        step = await refresh_some(maintenance, embedder, after=after)
        after = step.after
        if not step.found or not after:
            return embedder.asked


async def test_words_corrected_without_an_embedder_get_their_meaning_later(
    store: MemoryStore, maintenance: Maintenance
) -> None:
    (kept,) = await keep(store, ANA, memory("parks on level 2"))
    await refreshed(maintenance)
    await store.correct(ANA, kept, Patch(words="parks on the roof", lexemes=lemmatized("parks on the roof")), BY)
    stale = await store.get(ANA, kept)
    assert stale is not None
    assert stale.payload["vector_of"]

    asked = await refreshed(maintenance)

    fresh = await store.get(ANA, kept)
    assert asked == ["parks on the roof"]
    assert fresh is not None
    assert "vector_of" not in fresh.payload
    assert (fresh.updated_at, fresh.corrected_at) == (stale.updated_at, stale.corrected_at)
    found = await store.candidates(ANA, vector=direction(0, 0, 1), lexemes=[])
    assert found.found[0].cosine == pytest.approx(1.0)
    assert [one.event for one in await store.history(ANA, kept) or ()] == ["ADD", "UPDATE"]
    assert await refreshed(maintenance) == []


async def test_words_that_others_wrote_are_found_by_their_stems_later(
    store: MemoryStore, maintenance: Maintenance
) -> None:
    (kept,) = await keep(
        store, ANA, memory("running shoes", payload={"text_lemmatized": "running shoes", "words_version": None})
    )

    await refreshed(maintenance)

    found = await store.get(ANA, kept)
    assert found is not None
    assert found.payload["text_lemmatized"] == lemmatized("running shoes")


async def test_words_corrected_meanwhile_are_not_given_an_old_meaning(
    store: MemoryStore, maintenance: Maintenance
) -> None:
    (kept,) = await keep(store, ANA, memory("one"))
    await store.correct(ANA, kept, Patch(words="two", lexemes="two"), BY)
    [stale] = await maintenance.stale(after="", limit=10)
    await store.correct(ANA, kept, Patch(words="three", lexemes="three"), BY)

    assert not await maintenance.refresh(stale, lexemes="two", vector=np.asarray(direction(1)))
    await store.forget(ANA, kept, BY)
    assert not await maintenance.refresh(stale, lexemes="two", vector=np.asarray(direction(1)))


@pytest.mark.field("B37")
async def test_what_expired_goes_after_its_grace_with_a_receipt(store: MemoryStore, maintenance: Maintenance) -> None:
    (old,) = await keep(store, ANA, memory("old", payload={"expiration_date": "2020-01-01"}))
    (living,) = await keep(store, ANA, memory("living", payload={"expiration_date": "2999-01-01"}))
    await keep(store, BEN, memory("also old", payload={"expiration_date": "2020-01-01"}))

    assert await maintenance.sweep("2020-01-01", By("service", Door.SERVICE), limit=10) == 0
    assert await sweep_expired(maintenance, grace_days=30) == 2
    assert await sweep_expired(maintenance, grace_days=30) == 0

    assert await store.get(ANA, old) is None
    assert await store.history(ANA, old) is None
    assert await store.get(ANA, living) is not None
    [receipt] = await store.receipts(Everything("ana"), limit=10)
    assert (receipt.verb, receipt.forgotten, receipt.actor) == ("expire", 1, "service")


class Entities:
    """Names the last word of each text."""

    async def named(self, texts: Sequence[str]) -> list[list[Named]]:
        return [[Named(text.split()[-1], "proper")] for text in texts]


async def test_entities_go_with_the_words_that_named_them_and_come_with_the_new_meaning(
    store: MemoryStore, maintenance: Maintenance
) -> None:
    (kept,) = await keep(store, ANA, memory("met Alice", payload=dict(naming([Named("Alice", "proper")]))))
    changed = await store.correct(ANA, kept, Patch(words="met Bob", lexemes=lemmatized("met Bob")), BY)
    assert changed is not None
    assert changed.named == []
    assert "named_entities" not in changed.payload

    await refresh_some(maintenance, Embedder(), Entities())

    fresh = await store.get(ANA, kept)
    assert fresh is not None
    assert fresh.named == [Named("Bob", "proper")]
    assert fresh.updated_at == changed.updated_at


async def test_a_correction_without_new_words_leaves_the_entities(store: MemoryStore) -> None:
    (kept,) = await keep(store, ANA, memory("met Alice", payload=dict(naming([Named("Alice", "proper")]))))

    after = await store.correct(ANA, kept, Patch(payload={"color": "red"}), BY)

    assert after is not None
    assert after.named == [Named("Alice", "proper")]
    assert after.metadata == {"color": "red"}
