"""Snapshots from elsewhere: an upload is kept whole or not at all, and so many at most."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from shared.errors import BadValue, Conflict
from shared.records import By, Door
from shared.snapshots.entries import Entry, Kept, Kind
from shared.snapshots.sealing import Part, Parts
from shared.stores.ports import MemoryStore
from shared.stores.states import Sealed, State, StateStore
from tests.conformance.build import ANA, BY, direction, keep, memory
from tests.conformance.snapshots import OTHER, PERSON, listed, whole


@pytest.mark.field("B103")
async def test_an_upload_is_kept_like_a_snapshot_of_ones_own(store: MemoryStore, states: StateStore) -> None:
    await keep(store, ANA, *(memory(f"thing {n} " + "word " * 30, vector=direction(n + 1, 1)) for n in range(300)))
    entries = await whole(states)
    saved = await states.save(PERSON, created="2026-01-01T00:00:00.000000+00:00")
    again = await states.take_in(PERSON, upload(entries))
    other = await states.take_in(OTHER, upload(entries))
    restored = await states.restore(OTHER, OTHER, other.id, By("ben", Door.STATE), respect_forgotten=False)

    assert again == saved
    assert other.digest == saved.digest
    assert other.id != saved.id
    assert restored is not None
    assert restored.memories == 300
    assert {m.words for m in await listed(store, OTHER)} == {m.words for m in await listed(store)}
    assert not {m.id for m in await listed(store, OTHER)} & {m.id for m in await listed(store)}


async def upload(entries: Sequence[Entry], **sealed: str) -> AsyncIterator[Part | Sealed]:
    parts = Parts()
    for part in [*parts.take(entries), *parts.rest()]:
        yield part
    digest = sealed.get("digest", parts.digest.value)
    yield Sealed(sealed.get("id"), "2026-01-01T00:00:00.000000+00:00", digest, parts.digest.numbers, parts.size)


def bare(words: str, memory_id: str, vector: bytes | None = None) -> Kept:
    payload = dict(memory(words).payload) | {"agent_id": "app:notes"}
    return Kept(Kind.USER, memory_id, payload, vector, [])


A = "11111111-0000-4000-8000-000000000001"
B = "11111111-0000-4000-8000-000000000002"


async def test_a_broken_upload_leaves_nothing(states: StateStore) -> None:
    async def unsealed() -> AsyncIterator[Part | Sealed]:
        parts = Parts()
        parts.take([bare("x", A)])
        for part in parts.rest():
            yield part

    async def failing() -> AsyncIterator[Part | Sealed]:
        async for part in unsealed():
            yield part
        raise ConnectionError

    with pytest.raises(BadValue):
        await states.take_in(PERSON, unsealed())
    with pytest.raises(ConnectionError):
        await states.take_in(PERSON, failing())
    with pytest.raises(BadValue):
        await states.take_in(PERSON, upload([bare("x", A), bare("y", A)]))

    assert await states.states(PERSON) == []


async def test_another_snapshot_by_a_known_id_is_refused(states: StateStore) -> None:
    told = bare("x", A)
    first = await states.take_in(PERSON, upload([told], id=B))
    with pytest.raises(Conflict):
        await states.take_in(PERSON, upload([bare("y", A)], id=B))

    assert await states.states(PERSON) == [first]
    assert await states.take_in(PERSON, upload([told], id=B)) == first


async def test_a_memory_without_a_vector_of_ours_is_found_by_its_words(store: MemoryStore, states: StateStore) -> None:
    saved = await states.take_in(PERSON, upload([bare("zanzibar tea", A), bare("green tea", B, b"\0" * 12)]))
    restored = await states.restore(PERSON, PERSON, saved.id, BY, respect_forgotten=False)
    near = await store.candidates(PERSON, vector=direction(1), lexemes=[])
    found = await store.candidates(PERSON, vector=direction(1), lexemes=["zanzibar"])

    assert restored is not None
    assert restored.not_embedded == 2
    assert list(near.found) == []
    assert [(c.memory.words, c.cosine) for c in found.found] == [("zanzibar tea", None)]
    one = await store.get(PERSON, A)
    assert one is not None
    assert one.payload["vector_of"] == "none"


async def test_a_history_from_elsewhere_comes_back_as_it_was_told(states: StateStore) -> None:
    at = "2025-01-01T00:00:00.000000+00:00"
    history = [
        {"event": "ADD", "old": None, "new": "first said", "actor": "x", "door": "apps", "at": at},
        {"event": "UPDATE", "old": "something else", "new": "then said", "actor": "y", "door": "mem0", "at": at},
    ]
    entry = bare("now says", A)
    told = Kept(entry.kind, A, entry.payload, None, history)
    saved = await states.take_in(PERSON, upload([told]))
    await states.restore(PERSON, PERSON, saved.id, BY, respect_forgotten=False)
    (kept,) = await whole(states)

    assert isinstance(kept, Kept)
    assert list(kept.history) == history


async def test_snapshots_are_bounded(store: MemoryStore, states: StateStore) -> None:
    first: State | None = None
    for n in range(100):
        await keep(store, ANA, memory(f"thing {n}"))
        first = first or await states.save(PERSON, created="2026-01-01T00:00:00.000000+00:00")
        await states.save(PERSON, created="2026-01-01T00:00:00.000000+00:00")
    with pytest.raises(Conflict):
        await states.save(PERSON, created="2026-01-01T00:00:00.000000+00:00")
    with pytest.raises(Conflict):
        await states.take_in(PERSON, upload([bare("x", A)]))
    assert first is not None
    await states.drop(PERSON, first.id)
    await states.take_in(PERSON, upload([bare("x", A)]))

    assert len(await states.states(PERSON)) == 100
