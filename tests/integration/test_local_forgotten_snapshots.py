"""After a snapshot is forgotten, no byte of the local store's directory holds what it held."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from shared.errors import BadValue
from shared.scope import Everything
from shared.snapshots import saving
from shared.snapshots.sealing import Part
from shared.stores.local.data import LocalData
from shared.stores.local.store import LocalStore
from shared.stores.states import StateStore
from tests.conformance.build import ANA, BY, DIMENSIONS, keep, keep_many, memory
from tests.waiting import FOR_EVER, until

PERSON = Everything("ana")


def stands_in(directory: Path, some: bytes) -> bool:
    return any(some in path.read_bytes() for path in directory.rglob("*") if path.is_file())


@pytest.mark.parametrize("how", ["drop", "erase", "refused"])
async def test_nothing_of_a_forgotten_snapshot_stays_in_the_directory(tmp_path: Path, how: str) -> None:
    store = await LocalStore.open(tmp_path / "store", dimensions=DIMENSIONS)
    await LocalData(store.database).put(ANA, "Facts", {"marker": "zq1234567890" * 20}, BY)
    await keep_many(store, ANA, 400)
    states = store.states
    state = await saving.save(states, PERSON)
    contents = [await states.part(PERSON, state.id, number) for number in range(state.parts)]
    pieces = [
        content[start : start + 24] for content in contents if content for start in range(64, len(content) - 24, 997)
    ]
    assert len(pieces) > 5
    assert all(stands_in(tmp_path, piece) for piece in pieces)

    if how == "drop":
        assert await states.drop(PERSON, state.id)
    else:
        await states.erase(PERSON, BY, allowances=True, snapshots=True)
        assert not stands_in(tmp_path, b"zq1234567890")
    if how == "refused":
        await _refused(states, contents)
    await store.close()

    assert not [piece for piece in pieces if stands_in(tmp_path, piece)]


async def _refused(states: StateStore, contents: list[bytes | None]) -> None:
    async def parts() -> AsyncIterator[Part]:
        for content in contents:
            yield Part(content or b"", [])
        raise BadValue("It was changed.")

    with pytest.raises(BadValue):
        await states.take_in(PERSON, parts())


async def test_the_journal_is_emptied_after_a_write_that_was_in_the_way_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.stores.local.lanes._PATIENCE", 0.05)
    monkeypatch.setattr("shared.stores.local.database._RETRY", 0.05)
    store = await LocalStore.open(tmp_path / "store", dimensions=DIMENSIONS)
    data = LocalData(store.database)
    await data.put(ANA, "Facts", "zq1234567890" * 20, BY)
    begun, over = threading.Event(), threading.Event()

    def in_the_way(connection: sqlite3.Connection) -> None:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        begun.set()
        assert over.wait(FOR_EVER)

    try:
        reading = asyncio.create_task(store.database.read(in_the_way))
        await until(begun.is_set)
        await data.forget(ANA, "Facts", BY)
        begun.clear()
        writing = asyncio.create_task(store.database.write(in_the_way))
        await until(begun.is_set)
        await asyncio.sleep(0.3)  # it is tried again meanwhile, in vain
        assert stands_in(tmp_path, b"zq1234567890")
        over.set()
        await asyncio.gather(reading, writing)

        await until(
            lambda: not stands_in(tmp_path, b"zq1234567890"), 60.0, else_say="the journal was not emptied again"
        )
    finally:
        over.set()
        await store.close()


async def test_forgetting_waits_for_who_reads_and_keeps_out_who_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.stores.local.database._PATIENCE", FOR_EVER)
    store = await LocalStore.open(tmp_path / "store", dimensions=DIMENSIONS)
    [kept] = await keep(store, ANA, memory("zq1234567890 " * 20))
    begun, over = threading.Event(), threading.Event()

    def read(connection: sqlite3.Connection) -> None:
        connection.execute("SELECT count(*) FROM memories").fetchone()
        begun.set()
        assert over.wait(FOR_EVER)

    reading = asyncio.create_task(store.database.read(read))
    await until(begun.is_set)
    forgetting = asyncio.create_task(store.forget(ANA, kept, BY))
    await until(lambda: store.database._gate._shut, within=20)
    coming = asyncio.create_task(store.count(ANA))
    await asyncio.sleep(0.1)
    assert not coming.done()
    assert not forgetting.done()
    over.set()

    assert await forgetting == 1
    assert not stands_in(tmp_path, b"zq1234567890")
    assert await coming == 0
    await reading
    await store.close()
