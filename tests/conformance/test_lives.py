"""A person's whole memory on both engines: exact round trips, across engines too; forgetting, learns in flight, limits."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import uuid4

import numpy as np
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.errors import Conflict, ForgottenMeanwhile
from shared.payloads import Details, new_payload
from shared.records import Add, By, Door, Patch
from shared.scope import Everything
from shared.snapshots import saving
from shared.snapshots.document import FORMAT, Document, saved
from shared.snapshots.entries import Entry, Kept, line
from shared.snapshots.sealing import Digest
from shared.stores import states as limits
from shared.stores.ports import Accepted
from shared.stores.states import Restored, StateStore
from shared.times import now
from shared.words import lemmatized
from tests.conformance.build import ANA, ANA_TRAVEL, BEN, BY, DIMENSIONS, direction, keep, keep_many, memory
from tests.conformance.conftest import Ports, local, postgres

PERSON = Everything("ana")
OTHER = Everything("ben")

words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=60) | st.sampled_from(
    ["🍵" * 1000, "a" * 2000, "مرحبا بالعالم", "x'; DROP TABLE data; --", "*", "\u202eevil", '{"id": 1}']
)
plain = (
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | words
)
metadata = st.dictionaries(
    words, st.recursive(plain, lambda inner: st.lists(inner, max_size=3), max_leaves=5), max_size=4
)
details = st.builds(
    Details,
    run_id=st.none() | st.sampled_from(["r-1", "🍵", "r 2"]),
    metadata=metadata,
    expiration_date=st.none() | st.sampled_from(["2020-01-01", "2099-12-31"]),
    learned_at=st.none() | st.datetimes(min_value=datetime(1990, 1, 1)),  # noqa: DTZ001 (Hypothesis wants none)
)
life = st.lists(st.tuples(st.sampled_from([ANA, ANA_TRAVEL]), words, details, st.none() | words), max_size=8)
documents = st.lists(
    st.tuples(st.sampled_from(["Facts", "org.example.🍵"]), plain.filter(lambda x: x is not None)), max_size=4
)


async def lines(states: StateStore, person: Everything = PERSON) -> list[bytes]:
    """Everything of a person in canonical form."""
    found: list[Entry] = []
    await states.read(person, found.extend)
    return [line(entry) for entry in found]


async def live(ports: Ports, lived: list[Any], typed: list[Any]) -> None:
    """A life as it is drawn: memories, some corrected, and typed data."""
    seed = itertools.count(1)
    for scope, said, told, corrected in lived:
        vector = np.random.default_rng(next(seed)).normal(size=DIMENSIONS).astype(np.float32)
        add = Add(str(uuid4()), new_payload(said, told, now=now()), vector)
        [outcome] = await ports.store.commit(scope, [add], BY)
        if corrected is not None:
            await ports.store.correct(scope, outcome.id, Patch(corrected, lemmatized(corrected)), BY)
    for name, value in typed:
        await ports.data.put(ANA, name, value, BY)


async def pieces(ports: Ports, state_id: str, person: Everything = PERSON) -> AsyncIterator[bytes]:
    state = await saving.one(ports.states, person, state_id)
    async for piece in saved(ports.states, person, state, shown_to=person, whole=True):
        yield piece


async def restore(ports: Ports, state_id: str, *, into: Everything = PERSON, by: By = BY, **more: Any) -> Restored:
    _, _, done = await saving.restore(ports.states, into, PERSON, state_id, by, respect_forgotten=False, **more)
    return done


@given(lived=life, typed=documents)
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_any_life_comes_back_byte_for_byte(
    kind: str, prepared_database: str, tmp_path_factory: pytest.TempPathFactory, lived: list[Any], typed: list[Any]
) -> None:
    async def case(ports: Ports) -> None:
        await live(ports, lived, typed)
        before = await lines(ports.states)
        state = await saving.save(ports.states, PERSON)
        await keep(ports.store, ANA, memory("later"))
        await ports.states.erase(PERSON, BY, allowances=True, snapshots=False)
        assert await lines(ports.states) == []

        for _ in range(2):
            await restore(ports, state.id)
            assert await lines(ports.states) == before
        assert (await saving.save(ports.states, PERSON)).id == state.id

    async def whole() -> None:
        directory = tmp_path_factory.mktemp("s") / "store"
        async with local(directory) if kind == "local" else postgres(prepared_database) as ports:
            await case(ports)

    asyncio.run(whole())


@given(lived=life, typed=documents)
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_any_life_goes_to_the_other_engine_and_back_byte_for_byte(
    prepared_database: str, tmp_path_factory: pytest.TempPathFactory, lived: list[Any], typed: list[Any]
) -> None:
    async def case() -> None:
        async with postgres(prepared_database) as there, local(tmp_path_factory.mktemp("s") / "store") as here:
            await live(there, lived, typed)
            before = await lines(there.states)
            state = await saving.save(there.states, PERSON)
            taken = await saving.take_in(here.states, PERSON, pieces(there, state.id))
            assert taken.state.id == state.id
            await restore(here, state.id)
            assert await lines(here.states) == before

            back = await saving.save(here.states, PERSON)
            assert back.id == state.id
            await there.states.erase(PERSON, BY, allowances=True, snapshots=True)
            await saving.take_in(there.states, PERSON, pieces(here, back.id))
            await restore(there, back.id)
            assert await lines(there.states) == before

    asyncio.run(case())


@pytest.fixture(params=["local", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.field("B43")
async def test_a_snapshot_holds_every_one_of_many(ports: Ports) -> None:
    await keep_many(ports.store, ANA, 1137)

    state = await saving.save(ports.states, PERSON)
    await ports.states.erase(PERSON, BY, allowances=False, snapshots=False)
    done = await restore(ports, state.id)

    assert state.counts["user"] == done.memories == 1137
    assert await ports.store.count(ANA) == 1137


async def test_a_learn_accepted_before_a_restore_or_an_erase_writes_nothing(ports: Ports) -> None:
    await keep(ports.store, ANA, memory("tea"))
    state = await saving.save(ports.states, PERSON)

    for change in (
        restore(ports, state.id),
        ports.states.erase(PERSON, BY, allowances=False, snapshots=False),
    ):
        accepted = Accepted(await ports.store.epoch(ANA))
        await change
        with pytest.raises(ForgottenMeanwhile):
            await ports.store.commit(ANA, [memory("too late")], BY, accepted=accepted)


async def test_a_restore_is_found_by_meaning_and_by_words_and_nothing_else_is(ports: Ports) -> None:
    [tea] = await keep(ports.store, ANA, memory("tea", vector=direction(1)))
    state = await saving.save(ports.states, PERSON)
    await keep(ports.store, ANA, memory("coffee", vector=direction(1, 0.1)))
    await ports.store.candidates(ANA, vector=direction(1), lexemes=["tea"])

    await restore(ports, state.id)
    found = await ports.store.candidates(ANA, vector=direction(1), lexemes=["coffe"])

    assert [one.memory.id for one in found.found] == [tea]
    assert found.found[0].cosine == pytest.approx(1, abs=1e-6)


@pytest.mark.field("B14")
async def test_ids_and_words_that_somebody_else_has_by_now_neither_clash_nor_leak(ports: Ports) -> None:
    ids = await keep(ports.store, ANA, memory("tea"), memory("coffee"))
    state = await saving.save(ports.states, PERSON)
    await ports.states.erase(PERSON, BY, allowances=False, snapshots=False)
    await keep(ports.store, BEN, memory("tea", memory_id=ids[0]))
    theirs = await lines(ports.states, OTHER)

    done = [await restore(ports, state.id) for _ in range(2)]

    assert [one.memories for one in done] == [2, 2]
    mine = (await ports.store.page(ANA, limit=10)).memories
    assert {one.words for one in mine} == {"tea", "coffee"}
    assert ids[1] in {one.id for one in mine}
    assert ids[0] not in {one.id for one in mine}
    assert await lines(ports.states, OTHER) == theirs
    [again] = [one.id for one in mine if one.words == "tea"]
    assert await ports.store.forget(ANA, again, BY) == 1
    assert (await restore(ports, state.id)).came_back == 1


async def test_allowances_are_replaced_by_the_person_only(ports: Ports) -> None:
    await keep(ports.store, ANA, memory("tea"))
    state = await saving.save(ports.states, PERSON)

    done = await restore(ports, state.id, by=By("support", Door.STATE))

    assert done.memories == 1
    receipts = await ports.store.receipts(PERSON, limit=1)
    assert (receipts[0].verb, receipts[0].actor) == ("restore", "support")


async def test_receipts_count_the_snapshots_that_still_hold_what_was_forgotten(ports: Ports) -> None:
    [tea, coffee] = await keep(ports.store, ANA, memory("tea"), memory("coffee"))
    first = await saving.save(ports.states, PERSON)
    await ports.store.forget(ANA, coffee, BY)
    second = await saving.save(ports.states, PERSON)
    await ports.store.forget(ANA, tea, BY)
    await ports.store.forget_all(ANA, BY, confirmed=None)

    async def held() -> list[int]:
        return [one.held_by_snapshots for one in await ports.store.receipts(PERSON, limit=9)]

    assert await held() == [0, 2, 1]
    assert await ports.states.drop(PERSON, first.id)
    assert await held() == [0, 1, 0]
    assert await ports.states.drop(PERSON, second.id)
    assert await held() == [0, 0, 0]


async def test_there_are_so_many_snapshots_and_no_more(ports: Ports, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("shared.stores.local.state_rows", "shared.stores.pg.state_rows"):
        monkeypatch.setattr(f"{module}.MOST_STATES", 2)
    assert limits.MOST_STATES > 2
    for number in range(2):
        await keep(ports.store, ANA, memory(f"tea {number}"))
        await saving.save(ports.states, PERSON)

    await keep(ports.store, ANA, memory("one more"))
    with pytest.raises(Conflict):
        await saving.save(ports.states, PERSON)
    assert len(await ports.states.states(PERSON)) == 2


async def test_vectors_of_another_width_are_left_to_be_embedded_again(ports: Ports) -> None:
    [tea] = await keep(ports.store, ANA, memory("tea"))
    state = await saving.save(ports.states, PERSON)
    document = b"".join([piece async for piece in pieces(ports, state.id)])
    found: list[Entry] = []
    await ports.states.read(PERSON, found.extend)
    narrow = resealed(document, found, vector=bytes(range(16)))

    await saving.take_in(ports.states, PERSON, narrow)
    done = await restore(ports, NARROW)

    assert done.not_embedded == 1
    [kept] = (await ports.store.page(ANA, limit=9)).memories
    assert (kept.id, kept.words, kept.payload["vector_of"]) == (tea, "tea", "none")
    [again] = (await ports.store.candidates(ANA, vector=direction(1), lexemes=["tea"])).found
    assert again.memory.id == tea


NARROW = "11111111-2222-4333-8444-555555555555"


async def resealed(document: bytes, entries: list[Entry], *, vector: bytes) -> AsyncIterator[bytes]:
    """The same export, with another vector, as a service whose embedder is another would have written it."""
    digest, written = Digest(), Document("ana", whole=True)
    changed = [replace(entry, vector=vector) for entry in entries if isinstance(entry, Kept)]
    for entry in changed:
        digest.add(entry)
    created = orjson.loads(document)["created"]
    yield written.head(NARROW, created, format=FORMAT, checksum=digest.value)
    for entry in changed:
        yield written.add(entry)
    yield written.end()
