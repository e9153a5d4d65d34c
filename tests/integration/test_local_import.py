"""What a stock mem0 client kept with FAISS is taken over once: words and vectors, its files untouched."""

from __future__ import annotations

import asyncio
import json
import pickle
import random
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from click.testing import CliRunner
from mem0.vector_stores.faiss import FAISS

from shared.errors import CannotStartError
from shared.records import Patch
from shared.scope import Everything, Scope
from shared.stores.local.command import import_command
from shared.stores.local.importing import Imported
from shared.stores.local.store import LocalStore
from shared.words import lexemes
from tests.conformance.build import ANA, BEN, BY, DIMENSIONS, any_direction, keep, memory

NAME = "agent_memories"


def stock(directory: Path, name: str = NAME, *, strategy: str = "euclidean", dimensions: int = DIMENSIONS) -> FAISS:
    return FAISS(name, str(directory), strategy, embedding_model_dims=dimensions)


def payload(words: str, scope: Scope = ANA, **more: Any) -> dict[str, Any]:
    owner = {"user_id": scope.person, "agent_id": scope.application}
    return {"data": words, "hash": "h", "created_at": "2025-03-01T10:00:00-08:00"} | owner | more


def filled(directory: Path, count: int = 20, **options: Any) -> dict[str, tuple[str, list[float]]]:
    """A stock store, with some of its memories deleted again; by id, the words and the vectors that are left."""
    client, seed = stock(directory, **options), random.Random(5)
    kept: dict[str, tuple[str, list[float]]] = {}
    for n in range(count):
        memory_id, vector = str(uuid4()), [3 * float(x) for x in any_direction(seed)]
        scope = [ANA, BEN][n % 2]
        client.insert([vector], [payload(f"stock number{n} 🍵", scope, mood={"n": n}, run_id="r1")], [memory_id])
        kept[memory_id] = (f"stock number{n} 🍵", vector)
    for memory_id in list(kept)[1::5]:
        client.delete(memory_id)
        del kept[memory_id]
    return kept


def contents(directory: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in directory.iterdir()}


def test_the_command_counts_first_and_then_imports(tmp_path: Path) -> None:
    filled(tmp_path / "stock")
    asked = ["--from", str(tmp_path / "stock"), "--into", str(tmp_path / "store"), "--dimensions", str(DIMENSIONS)]
    outputs = [CliRunner().invoke(import_command, [*asked, *more]) for more in (["--dry-run"], [], [])]

    assert [one.exit_code for one in outputs] == [0, 0, 0]
    assert "16 memories, 16 would be imported" in outputs[0].output
    assert "16 memories, 16 were imported" in outputs[1].output
    assert "16 are known already" in outputs[2].output


async def test_the_command_refuses_a_directory_in_use(tmp_path: Path) -> None:
    filled(tmp_path / "stock")
    store = await LocalStore.open(tmp_path / "store", dimensions=DIMENSIONS)
    asked = ["--from", str(tmp_path / "stock"), "--into", str(tmp_path / "store"), "--dimensions", str(DIMENSIONS)]
    refused = await asyncio.to_thread(CliRunner().invoke, import_command, asked)
    await store.close()

    assert refused.exit_code == 1
    assert "in use by process" in refused.output


@pytest.fixture
async def source(tmp_path: Path) -> Path:
    return tmp_path / "stock"


async def into(tmp_path: Path, source: Path, *, dry_run: bool = False) -> tuple[LocalStore, Imported]:
    store = await LocalStore.open(tmp_path / "store", dimensions=DIMENSIONS)
    return store, await store.import_stock(source, dry_run=dry_run)


@pytest.mark.parametrize("strategy", ["euclidean", "cosine", "inner_product"])
async def test_words_payloads_and_vectors_are_taken_over(tmp_path: Path, source: Path, strategy: str) -> None:
    kept = filled(source, strategy=strategy)
    before = contents(source)
    store, report = await into(tmp_path, source)

    assert (report.collections, report.found, report.imported) == ([NAME], 16, 16)
    assert (report.known, report.ownerless, report.unusable, report.without_vector) == (0, 0, 0, 0)
    assert contents(source) == before
    for scope in (ANA, BEN):
        for one in (await store.page(scope, limit=50)).memories:
            words, vector = kept.pop(one.id)
            near = await store.candidates(scope, vector=np.array(vector, dtype=np.float32), lexemes=[], limit=1)
            assert one.words == words
            assert one.metadata == {"mood": {"n": int("".join(c for c in words if c.isdigit()))}}
            assert one.created_at == "2025-03-01T10:00:00-08:00"
            assert [c.memory.id for c in near.found] == [one.id]
            assert near.found[0].cosine == pytest.approx(1, abs=1e-5)
    assert kept == {}
    found = await store.candidates(ANA, vector=None, lexemes=lexemes("number2"))
    assert [c.memory.words for c in found.found] == ["stock number2 🍵"]
    await store.close()


async def test_a_dry_run_counts_and_writes_nothing(tmp_path: Path, source: Path) -> None:
    filled(source)
    store, report = await into(tmp_path, source, dry_run=True)

    assert report.imported == 16
    assert await store.count(Everything("ana")) == 0
    assert (await store.import_stock(source)).imported == 16
    await store.close()


async def test_it_is_imported_once_and_what_was_forgotten_stays_forgotten(tmp_path: Path, source: Path) -> None:
    filled(source)
    store, _ = await into(tmp_path, source)
    first, second, *_ = (await store.page(ANA, limit=50)).memories
    await store.forget(ANA, first.id, BY)
    await store.correct(ANA, second.id, Patch(words="corrected", lexemes="corrected"), BY)
    await store.forget_all(BEN, BY, confirmed=None)
    again = await store.import_stock(source)

    assert (again.imported, again.known) == (0, 16)
    assert await store.get(ANA, first.id) is None
    assert await store.count(BEN) == 0
    corrected = await store.get(ANA, second.id)
    assert corrected is not None
    assert corrected.words == "corrected"
    await store.close()


async def test_what_a_stock_client_left_in_the_stores_own_directory_is_found_at_the_start(tmp_path: Path) -> None:
    filled(tmp_path)
    before = contents(tmp_path)
    for _ in range(2):
        store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
        assert await store.count(ANA) + await store.count(BEN) == 16
        await store.close()
    client = stock(tmp_path)
    client.insert([[1.0] * DIMENSIONS], [payload("one more")], [str(uuid4())])
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)

    assert await store.count(ANA) + await store.count(BEN) == 17
    assert (tmp_path / f"{NAME}.json").read_bytes() != before[f"{NAME}.json"][0]
    await store.close()


@pytest.mark.field("S10")
async def test_rows_without_an_owner_are_nobodys_and_reported(tmp_path: Path, source: Path) -> None:
    wrong: list[dict[str, Any]] = [
        {},
        {"data": "nobody's"},
        payload("any") | {"user_id": "*"},
        payload("any") | {"agent_id": "*"},
        payload("any") | {"agent_id": "notes"},
        payload("any") | {"user_id": 5},
        payload("any") | {"user_id": " ana"},
        {k: v for k, v in payload("no app").items() if k != "agent_id"},
    ]
    client = stock(source)
    client.insert([[1.0] * DIMENSIONS] * 9, [*wrong, payload("mine")], [str(uuid4()) for _ in range(9)])
    store, report = await into(tmp_path, source)

    assert (report.found, report.imported, report.ownerless) == (9, 1, 8)
    for reach in (Everything("ana"), Everything("*"), Everything(""), Everything("5"), Everything("None")):
        expected = 1 if reach.person == "ana" else 0
        assert await store.count(reach) == expected
    await store.close()


async def test_rows_without_words_are_reported(tmp_path: Path, source: Path) -> None:
    client = stock(source)
    odd: list[Any] = ["", None, 5, ["a"], "broken \ud800"]
    client.insert(
        [[1.0] * DIMENSIONS] * 5, [payload("x") | {"data": words} for words in odd], [f"id{n}" for n in range(5)]
    )
    (source / f"{NAME}.json").write_text(
        json.dumps({"docstore": client.docstore, "index_to_id": client.index_to_id}), encoding="utf-8"
    )
    store, report = await into(tmp_path, source)

    assert (report.found, report.imported, report.unusable) == (5, 0, 5)
    await store.close()


async def test_an_id_that_is_no_uuid_gets_one_and_only_once(tmp_path: Path, source: Path) -> None:
    stock(source).insert([[1.0] * DIMENSIONS], [payload("odd id")], ["not-a-uuid"])
    store, _ = await into(tmp_path, source)
    (one,) = (await store.page(ANA, limit=5)).memories

    assert await store.get(ANA, one.id) == one
    assert (await store.import_stock(source)).known == 1
    await store.close()


async def test_an_id_that_is_here_already_is_left_alone(tmp_path: Path, source: Path) -> None:
    taken = str(uuid4())
    stock(source).insert([[1.0] * DIMENSIONS], [payload("theirs")], [taken])
    store = await LocalStore.open(tmp_path / "store", dimensions=DIMENSIONS)
    await keep(store, BEN, memory("mine", memory_id=taken))
    report = await store.import_stock(source)

    assert (report.imported, report.known) == (0, 1)
    assert await store.get(ANA, taken) is None
    await store.close()


@pytest.mark.field("B59")
@pytest.mark.parametrize("keep_part", [0.0, 0.3, 0.9, 0.999])
async def test_torn_words_are_refused_and_nothing_is_imported(tmp_path: Path, keep_part: float) -> None:
    filled(tmp_path)
    words = (tmp_path / f"{NAME}.json").read_bytes()
    (tmp_path / f"{NAME}.json").write_bytes(words[: int(len(words) * keep_part)])
    before = contents(tmp_path)
    with pytest.raises(CannotStartError, match="cut short or damaged"):
        await LocalStore.open(tmp_path, dimensions=DIMENSIONS)

    assert {name: content for name, content in contents(tmp_path).items() if name in before} == before
    (tmp_path / f"{NAME}.json").write_bytes(words)
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    assert await store.count(ANA) + await store.count(BEN) == 16
    await store.close()


@pytest.mark.field("B59")
@pytest.mark.parametrize("damage", ["torn", "empty", "garbage", "older", "wider"])
async def test_a_torn_index_costs_the_vectors_and_never_gives_a_wrong_one(
    tmp_path: Path, source: Path, damage: str
) -> None:
    kept = filled(source)
    path = source / f"{NAME}.faiss"
    content = path.read_bytes()
    match damage:
        case "torn":
            path.write_bytes(content[: len(content) // 2])
        case "empty":
            path.write_bytes(b"")
        case "garbage":
            path.write_bytes(random.Random(1).randbytes(len(content)))
        case "older":
            stock(source).insert([[1.0] * DIMENSIONS], [payload("later")], [str(uuid4())])
            path.write_bytes(content)
            kept["later"] = ("later", [])
        case _:
            wide = stock(tmp_path / "wide", dimensions=16)
            wide.insert([[1.0] * 16] * len(kept), [{}] * len(kept), [str(n) for n in range(len(kept))])
            path.write_bytes((tmp_path / "wide" / f"{NAME}.faiss").read_bytes())
    store, report = await into(tmp_path, source)

    assert (report.imported, report.without_vector) == (len(kept), len(kept))
    listed = [m for scope in (ANA, BEN) for m in (await store.page(scope, limit=50)).memories]
    assert {m.words for m in listed} == {words for words, _ in kept.values()}
    assert all("vector_of" in m.payload for m in listed)
    found = await store.candidates(ANA, vector=any_direction(random.Random(2)), lexemes=lexemes("number2"))
    assert "stock number2 🍵" in {c.memory.words for c in found.found if any(c.terms)}
    assert {c.cosine for c in found.found} == {None}
    await store.close()


async def test_an_old_pickle_is_read(tmp_path: Path, source: Path) -> None:
    kept = filled(source)
    client = stock(source)
    (source / f"{NAME}.pkl").write_bytes(pickle.dumps((client.docstore, client.index_to_id)))
    (source / f"{NAME}.json").unlink()
    store, report = await into(tmp_path, source)

    assert (report.imported, report.without_vector) == (len(kept), 0)
    assert not (source / f"{NAME}.json").exists()
    await store.close()


class Evil:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


async def test_a_pickle_that_names_code_is_refused_and_not_run(tmp_path: Path, source: Path) -> None:
    filled(source)
    (source / f"{NAME}.json").unlink()
    (source / f"{NAME}.pkl").write_bytes(pickle.dumps(({"a": Evil(tmp_path / "ran")}, {})))
    with pytest.raises(CannotStartError):
        await into(tmp_path, source)

    assert not (tmp_path / "ran").exists()


async def test_what_mem0_derives_is_not_imported(tmp_path: Path, source: Path) -> None:
    filled(source)
    for name in (f"{NAME}_entities", "mem0migrations"):
        stock(source, name).insert([[1.0] * DIMENSIONS], [payload("an entity")], [str(uuid4())])
    store, report = await into(tmp_path, source)

    assert (report.collections, report.imported) == ([NAME], 16)
    await store.close()


async def test_a_directory_without_a_stock_store_imports_nothing(tmp_path: Path, source: Path) -> None:
    source.mkdir()
    (source / "lonely.faiss").write_bytes(b"x")
    store, report = await into(tmp_path, source)

    assert report == Imported([])
    assert await store.import_stock(tmp_path / "missing") == Imported([])
    await store.close()
