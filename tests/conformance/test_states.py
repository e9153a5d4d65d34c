"""Snapshots: everything of a person, kept once, restored exactly, and said of what was forgotten since."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from shared.errors import BadValue, Conflict
from shared.records import By, Door, Memory, Patch
from shared.scope import Everything
from shared.snapshots.entries import Entry, Kept, Kind
from shared.snapshots.sealing import Part, Parts
from shared.stores.data import DataStore
from shared.stores.ports import Accepted, MemoryStore
from shared.stores.states import Sealed, State, StateStore
from tests.conformance.build import ANA, ANA_TRAVEL, BEN, BY, YESTERDAY, direction, keep, memory, words_of

PERSON = Everything("ana")
OTHER = Everything("ben")


async def whole(states: StateStore, person: Everything = PERSON) -> list[Entry]:
    found: list[Entry] = []
    await states.read(person, found.extend)
    return found


async def listed(store: MemoryStore, person: Everything = PERSON) -> Sequence[Memory]:
    return (await store.page(person, limit=500, show_expired=True)).memories


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
