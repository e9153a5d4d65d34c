"""The search indexes in memory: bounded, as new as the rows, alone in their threads, and equal to a plain count."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shared.records import Delete, Patch, Vector
from shared.scope import Everything, Scope
from shared.stores.local import writing
from shared.stores.local.database import Database
from shared.stores.local.flat import Flat
from shared.stores.local.index import ScopeIndex
from shared.stores.local.postings import Postings
from shared.stores.local.store import LocalStore
from tests.conformance.build import ANA, BEN, BY, DIMENSIONS, any_direction, direction, keep, keep_many, memory
from tests.waiting import FOR_EVER


async def test_an_index_that_was_kept_answers_like_one_made_anew(tmp_path: Path) -> None:
    """Against a brute-force oracle over every row, while rows come, change and go."""
    seed = random.Random(7)
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    model: dict[str, tuple[Vector, str]] = {}
    vocabulary = [f"word{n}" for n in range(30)]

    def text() -> str:
        return " ".join(seed.choices(vocabulary, k=seed.randrange(1, 9)))

    for step in range(120):
        act = seed.random()
        if act < 0.5 or not model:
            for _ in range(seed.choice([1, 3, 40])):
                vector, words = any_direction(seed), text()
                add = memory(f"{words} {step}-{len(model)}", vector=vector, payload={"text_lemmatized": words})
                await keep(store, ANA, add)
                model[add.id] = (vector, words)
        elif act < 0.75:
            chosen, vector, words = seed.choice(sorted(model)), any_direction(seed), text()
            await store.correct(ANA, chosen, Patch(f"{words} corrected {step}", words, vector), BY)
            model[chosen] = (vector, words)
        else:
            chosen = seed.choice(sorted(model))
            await store.commit(ANA, [Delete(chosen)], BY)
            del model[chosen]
        query, wanted = any_direction(seed), seed.sample(vocabulary, 3)
        answer = await store.candidates(ANA, vector=query, lexemes=wanted, limit=7)
        best = sorted(model, key=lambda i: -float(np.dot(model[i][0], query)))[:7]
        found = {candidate.memory.id: candidate for candidate in answer.found}

        assert set(best) <= found.keys()
        assert answer.size == len(model)
        assert list(answer.frequencies) == [sum(w in t.split() for _, t in model.values()) for w in wanted]
        for kept, candidate in found.items():
            assert candidate.cosine == pytest.approx(float(np.dot(model[kept][0], query)), abs=1e-5)
            assert list(candidate.terms) == [model[kept][1].split().count(w) for w in wanted]
    await store.close()


async def test_the_cache_is_bounded_by_bytes(tmp_path: Path) -> None:
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS, cache_bytes=60_000)
    scopes = [Scope(f"person{n}", "app:notes") for n in range(30)]
    for scope in scopes:
        await keep_many(store, scope, 20)
    for scope in scopes * 2:
        assert (await store.candidates(scope, vector=direction(1), lexemes=["memory"])).size == 20
        assert store._cache.bytes <= 60_000
    assert 0 < len(store._cache._indexes) < 30
    await store.close()


async def test_an_index_larger_than_the_cache_still_answers(tmp_path: Path) -> None:
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS, cache_bytes=10)
    await keep_many(store, ANA, 20)

    assert (await store.candidates(ANA, vector=direction(1), lexemes=[])).size == 20
    assert store._cache.bytes == 0
    await store.close()


async def test_what_was_forgotten_does_not_stay_in_an_index(tmp_path: Path) -> None:
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    first, *_ = await keep_many(store, ANA, 5)
    await keep_many(store, BEN, 5)
    for reach in (ANA, BEN):
        await store.candidates(reach, vector=direction(1), lexemes=["memory"])
    await store.forget(ANA, first, BY)
    await store.candidates(ANA, vector=direction(1), lexemes=["memory"])
    assert store._cache._indexes[ANA].dead == 0
    assert len(store._cache._indexes[ANA].keys) == 4
    await store.forget_all(Everything("ana"), BY, confirmed=None)

    assert set(store._cache._indexes) == {BEN}
    await store.close()


async def test_searches_while_writing_never_see_what_is_not(tmp_path: Path) -> None:
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    acknowledged: set[str] = set()
    forgotten: set[str] = set()

    async def write() -> None:
        for n in range(60):
            (kept,) = await keep(store, ANA, memory(f"thing {n}"))
            acknowledged.add(kept)
            if n % 3 == 2:
                chosen = min(acknowledged - forgotten)
                acknowledged.discard(chosen)
                await store.forget(ANA, chosen, BY)
                forgotten.add(chosen)

    async def search() -> None:
        for _ in range(120):
            known, gone = set(acknowledged), set(forgotten)
            answer = await store.candidates(ANA, vector=direction(1), lexemes=["thing"])
            found = {candidate.memory.id for candidate in answer.found}
            assert not found & gone
            assert known & acknowledged <= found

    await asyncio.gather(write(), search(), search())
    await store.close()


async def test_the_event_loop_runs_no_statement_and_makes_no_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, set[int]] = {"statement": set(), "row": set(), "put": set(), "nearest": set(), "hits": set()}
    connect = Database._connect

    def watched(self: Database) -> sqlite3.Connection:
        connection = connect(self)
        connection.set_trace_callback(lambda _: seen["statement"].add(threading.get_ident()))
        return connection

    def watch(what: str, of: type, name: str) -> None:
        real = getattr(of, name)

        def noted(*args: Any, **kwargs: Any) -> Any:
            seen[what].add(threading.get_ident())
            return real(*args, **kwargs)

        monkeypatch.setattr(of, name, noted)

    monkeypatch.setattr(Database, "_connect", watched)
    for name in ("put", "seen"):
        watch("put", ScopeIndex, name)
    watch("nearest", Flat, "nearest")
    watch("hits", Postings, "hits")
    real_change = writing.change
    monkeypatch.setattr(
        writing, "change", lambda *args: (seen["row"].add(threading.get_ident()), real_change(*args))[1]
    )
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    adds = [memory(f"thing {n}", vector=direction(1, n)) for n in range(50)]
    await keep(store, ANA, *adds)
    assert (await store.candidates(ANA, vector=adds[0].vector, lexemes=["thing"])).size == 50
    await store.page(ANA, limit=10)
    await store.correct(ANA, adds[0].id, Patch("other", "other", direction(3)), BY)
    await store.history(ANA, adds[0].id)
    await store.forget_all(ANA, BY, confirmed=None)
    await store.close()

    for what, threads in seen.items():
        assert threads, what
        assert threading.get_ident() not in threads, what


async def test_the_event_loop_goes_on_while_a_statement_runs(tmp_path: Path) -> None:
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    went_on = threading.Event()

    def work(connection: sqlite3.Connection) -> bool:
        connection.create_function("wait", 0, lambda: went_on.wait(FOR_EVER))
        return bool(connection.execute("SELECT wait()").fetchone()[0])

    for run in (store.database.read, store.database.search, store.database.write):
        went_on.clear()
        working = asyncio.create_task(run(work))
        await store.count(BEN)  # beside it, another is served
        went_on.set()
        assert await working
    await store.close()


async def test_its_threads_end_with_it(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    await asyncio.gather(*(store.count(ANA) for _ in range(50)))
    assert any(thread.name.startswith("local-") for thread in set(threading.enumerate()) - before)
    await store.close()

    assert not any(thread.name.startswith("local-") for thread in set(threading.enumerate()) - before)


async def test_a_caller_who_goes_away_leaves_a_whole_write_or_none(tmp_path: Path) -> None:
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    for n in range(40):
        task = asyncio.create_task(store.commit(ANA, [memory(f"{n} a"), memory(f"{n} b")], BY))
        await asyncio.sleep(0.0005 * (n % 8))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await store.count(ANA)
    words = sorted(m.words for m in (await store.page(ANA, limit=200)).memories)
    history = [await store.history(ANA, m.id) for m in (await store.page(ANA, limit=200)).memories]

    assert words == sorted(w for n in {w.split()[0] for w in words} for w in (f"{n} a", f"{n} b"))
    assert all(history)
    await store.close()
