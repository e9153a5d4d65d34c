"""After forgetting, no byte of the directory holds what was forgotten: not in free pages, gaps, or the journal."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.payloads import Details, new_payload
from shared.records import Add, By, Delete, Door, Patch, Update, Vector
from shared.scope import Everything, Scope
from shared.stores.data import MOST_REVISIONS
from shared.stores.local.directory import DATABASE
from shared.stores.local.overflow import PAGE, Value, padding
from shared.stores.local.store import LocalStore
from shared.times import now
from shared.words import lemmatized
from tests.waiting import FOR_EVER, until

BY = By("ana", Door.APPS)
SCOPES = [Scope(person, f"app:{name}") for person in ("ana", "ben") for name in ("notes", "travel", "x" * 200)]


class Layout:
    """A store that is written to at random, and every marker that its memories ever said."""

    def __init__(self, store: LocalStore, seed: int, dimensions: int) -> None:
        self.store = store
        self.random = random.Random(seed)
        self.dimensions = dimensions
        self.markers: dict[str, tuple[Scope, set[str]]] = {}
        """By memory id: whose it is, and the markers of its words, old and new."""

    def words(self) -> tuple[str, str]:
        """A marker, and words that hold it so often that every piece of them, in any page, holds it whole."""
        marker = f"zq{self.random.getrandbits(40):010x}"
        words = " ".join([marker] * self.random.choice([1, 2, 5, 20, 40, 60, 100, 300, 600]))
        return marker, words[: self.random.randrange(len(marker), 8000)]

    def vector(self) -> Vector:
        return np.array([self.random.gauss(0, 1) for _ in range(self.dimensions)], dtype=np.float32)

    async def add(self) -> None:
        scope = self.random.choice(SCOPES)
        adds = []
        for _ in range(self.random.choice([1, 1, 2, 9])):
            marker, words = self.words()
            run_id = self.random.choice([None, "r" * self.random.randrange(1, 300)])
            add = Add(
                f"{self.random.getrandbits(128):032x}",
                new_payload(words, Details(run_id=run_id), now=now()),
                self.vector(),
            )
            add = Add(
                f"{add.id[:8]}-{add.id[8:12]}-{add.id[12:16]}-{add.id[16:20]}-{add.id[20:]}", add.payload, add.vector
            )
            adds.append(add)
            self.markers[add.id] = (scope, {marker})
        await self.store.commit(scope, adds, BY)

    async def change(self) -> None:
        if not self.markers:
            return
        memory_id = self.random.choice(sorted(self.markers))
        scope, markers = self.markers[memory_id]
        marker, words = self.words()
        markers.add(marker)
        if self.random.random() < 0.5:
            vector = self.random.choice([None, self.vector()])
            await self.store.correct(scope, memory_id, Patch(words, lemmatized(words), vector, {"n": words[:50]}), BY)
        else:
            await self.store.commit(scope, [Update(memory_id, words, lemmatized(words), self.vector())], BY)

    async def forget(self) -> set[str]:
        if not self.markers:
            return set()
        memory_id = self.random.choice(sorted(self.markers))
        scope, markers = self.markers.pop(memory_id)
        if self.random.random() < 0.5:
            assert await self.store.forget(Everything(scope.person), memory_id, BY) == 1
        else:
            await self.store.commit(scope, [Delete(memory_id)], BY)
        return markers

    async def forget_all(self) -> set[str]:
        scope = self.random.choice(SCOPES)
        reach = self.random.choice([scope, Everything(scope.person)])
        gone = {i for i, (of, _) in self.markers.items() if of == reach or Everything(of.person) == reach}
        assert await self.store.forget_all(reach, BY, confirmed=None) == len(gone)
        return {marker for memory_id in gone for marker in self.markers.pop(memory_id)[1]}


def holding(directory: Path, markers: set[str]) -> dict[str, str]:
    """Which forgotten markers still stand in which file."""
    files = {path.name: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    return {marker: name for name, content in files.items() for marker in markers if marker.encode() in content}


def on_leaves(database: Path, markers: set[str]) -> set[str]:
    """Markers that stand in a table's leaf page, which SQLite copies when it rebalances, rather than in an overflow page."""
    content = database.read_bytes()
    pages = [content[at : at + PAGE] for at in range(PAGE, len(content), PAGE)]
    leaves = [page for page in pages if page[0] == 0x0D]
    assert len(leaves) > 5
    return {marker for marker in markers if any(marker.encode() in page for page in leaves)}


@pytest.mark.parametrize("seed", range(6))
async def test_nothing_of_what_was_forgotten_is_in_any_byte(tmp_path: Path, seed: int) -> None:
    dimensions = [8, 384][seed % 2]
    store = await LocalStore.open(tmp_path, dimensions=dimensions)
    layout = Layout(store, seed, dimensions)
    gone: set[str] = set()
    for step in range(150):
        act = layout.random.choices([layout.add, layout.change, layout.forget, layout.forget_all], [8, 5, 4, 0.3])[0]
        result = await act()
        gone |= result or set()
        if result and step % 3 == 0:
            assert holding(tmp_path, gone) == {}
    await store.close()

    assert holding(tmp_path, gone) == {}
    kept = {marker for _, markers in layout.markers.values() for marker in markers}
    assert holding(tmp_path, kept).keys() == kept, "the test sees words that are there"
    assert on_leaves(tmp_path / DATABASE, kept) == set()


@settings(max_examples=60, deadline=None)
@given(
    plain=st.lists(st.none() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=700), max_size=8),
    secret=st.lists(st.text(max_size=60) | st.binary(max_size=2000), min_size=1, max_size=3),
    repeat=st.integers(1, 300),
)
def test_a_padded_row_keeps_its_secrets_out_of_its_leaf(plain: list[Value], secret: list[Value], repeat: int) -> None:
    secret = ["zq0123456789" * repeat, *secret]
    blank, fill = padding(plain, secret)
    row = [*plain, blank, *secret, fill]
    with (
        TemporaryDirectory() as directory,
        closing(sqlite3.connect(f"{directory}/a", isolation_level=None)) as database,
    ):
        database.execute("PRAGMA synchronous = OFF")
        database.execute(f"CREATE TABLE t (key INTEGER PRIMARY KEY, {', '.join(f'c{n}' for n in range(len(row)))})")
        database.executemany(f"INSERT INTO t VALUES (NULL, {', '.join('?' * len(row))})", [row] * 20)  # noqa: S608 (placeholders)
        pages = Path(directory, "a").read_bytes()

    leaves = [pages[at : at + PAGE] for at in range(PAGE, len(pages), PAGE) if pages[at] == 0x0D]
    assert leaves
    assert not any(b"zq0" in leaf for leaf in leaves)


async def test_a_reader_that_holds_the_journal_is_waited_for(tmp_path: Path) -> None:
    store = await LocalStore.open(tmp_path, dimensions=8)
    layout = Layout(store, 1, 8)
    for _ in range(5):
        await layout.add()
    other = sqlite3.connect(tmp_path / DATABASE, isolation_level=None)
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM memories").fetchone()
    try:
        gone = await layout.forget()
        assert holding(tmp_path, gone) != {}, "the other program still reads what was"
        other.execute("COMMIT")
        other.close()
        await until(lambda: not holding(tmp_path, gone), 60.0, else_say="the journal was not emptied again")
    finally:
        other.close()
        await store.close()


async def test_many_readers_in_turn_do_not_keep_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.stores.local.database._PATIENCE", FOR_EVER)  # with a reader on a busy machine
    store = await LocalStore.open(tmp_path, dimensions=8)
    layout = Layout(store, 2, 8)
    for _ in range(30):
        await layout.add()
    stop = False

    async def read() -> None:
        while not stop:
            await store.page(SCOPES[0], limit=50)
            await store.candidates(Everything("ana"), vector=layout.vector(), lexemes=[])

    readers = [asyncio.create_task(read()) for _ in range(8)]
    for _ in range(10):
        gone = await layout.forget()
        assert holding(tmp_path, gone) == {}
    stop = True
    await asyncio.gather(*readers)
    await store.close()


async def test_a_killed_forgetting_is_finished_at_the_next_start(tmp_path: Path) -> None:
    store = await LocalStore.open(tmp_path, dimensions=8)
    layout = Layout(store, 3, 8)
    await layout.add()
    # What a kill between the commit and the emptied journal leaves: the same files, copied at that moment.
    other = sqlite3.connect(tmp_path / DATABASE, isolation_level=None)
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM memories").fetchone()
    gone = await layout.forget_all() | await layout.forget()
    while layout.markers:
        gone |= await layout.forget()
    copied = tmp_path.parent / f"{tmp_path.name}-killed"
    copied.mkdir()
    for name in (DATABASE, f"{DATABASE}-wal", "store.json"):
        (copied / name).write_bytes((tmp_path / name).read_bytes())
    other.close()
    await store.close()
    assert holding(copied, gone) != {}
    again = await LocalStore.open(copied, dimensions=8)

    assert holding(copied, gone) == {}
    assert await again.count(Everything("ana")) == 0
    await again.close()


async def test_typed_data_and_its_old_revisions_leave_no_byte(tmp_path: Path) -> None:
    store = await LocalStore.open(tmp_path, dimensions=8)
    scope = SCOPES[0]
    for n in range(MOST_REVISIONS + 1):
        await store.data.put(scope, "settings", {"said": [f"zqold{n}"] * (1 + n * 7)}, BY)
    await store.data.set_schema(scope, "settings", {"description": "zqschema"})
    await until(lambda: not holding(tmp_path, {'"zqold0"'}))
    assert holding(tmp_path, {'"zqold1"', "zqschema"}).keys() == {'"zqold1"', "zqschema"}
    await store.data.forget(scope, "settings", BY)
    assert holding(tmp_path, {"zqold"}) == {}
    await store.states.erase(Everything(scope.person), BY, allowances=True, snapshots=True)

    assert holding(tmp_path, {"zqschema"}) == {}
    await store.close()


@pytest.mark.parametrize("by", ["drop", "erase"])
async def test_a_dropped_snapshot_leaves_no_byte(tmp_path: Path, by: str) -> None:
    store = await LocalStore.open(tmp_path, dimensions=384)
    layout = Layout(store, 5, 384)
    for _ in range(60):
        await layout.add()
    person = Everything("ana")
    saved = [await store.states.save(person, created="2026-01-01T00:00:00.000000+00:00")]
    await layout.add()
    await store.commit(
        SCOPES[0], [Add(str(UUID(int=1)), new_payload("more", Details(), now=now()), layout.vector())], BY
    )
    saved += [await store.states.save(person, created="2026-01-01T00:00:00.000000+00:00")]
    parts = [await store.states.part(person, state.id, 0) for state in saved]
    pieces = {part[at : at + 16] for part in parts if part is not None for at in range(64, len(part) - 64, 512)}
    for state in saved:
        if by == "drop":
            await store.states.drop(person, state.id)
    if by == "erase":
        await store.states.erase(person, BY, allowances=False, snapshots=True)
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())

    assert len(pieces) > 50
    assert not [piece for piece in pieces if piece in content]
    await store.close()


@pytest.mark.parametrize("by", ["forget", "forget_all", "learn", "erase", "restore"])
async def test_no_table_names_what_was_forgotten(tmp_path: Path, by: str) -> None:
    store = await LocalStore.open(tmp_path, dimensions=8)
    layout, person = Layout(store, 9, 8), Everything("ana")
    empty = await store.states.save(person, created="2026-01-01T00:00:00.000000+00:00")
    while not [i for i, (scope, _) in layout.markers.items() if scope.person == "ana"]:
        await layout.add()
    await layout.change()
    mine = {i: scope for i, (scope, _) in layout.markers.items() if scope.person == "ana"}
    for memory_id, scope in mine.items():
        match by:
            case "forget":
                await store.forget(scope, memory_id, BY)
            case "learn":
                await store.commit(scope, [Delete(memory_id)], BY)
            case "forget_all":
                await store.forget_all(scope, BY, confirmed=None)
            case "erase":
                await store.states.erase(person, BY, allowances=True, snapshots=True)
            case _:
                await store.states.restore(person, person, empty.id, BY, respect_forgotten=False)
    await store.close()

    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        rows = {name: repr(database.execute(f"SELECT * FROM {name}").fetchall()) for name in tables}  # noqa: S608 (names from the schema)
    assert len(tables) > 10
    assert [(name, i) for i in mine for name, content in rows.items() if i in content] == []
