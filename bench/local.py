"""The local store beside stock mem0's FAISS store, on the same memories, turn by turn in one process.

`python -m bench.local [SIZE …]` (1000 10000 100000). One line for each act: milliseconds of ours, of stock, and the
ratio; for search also how many of the ten nearest of one person's 200 memories were found. A person with 20,000 is
searched in ours only: in stock it is one more flat scan of everybody's.

What grows with everybody's memories is read in the last table, of ours by itself: between two acts of ours, stock scans
all memories, and the processor's caches are full of them, or writes all of them, and the disk is busy with that.

Stock deletes one by one: forgetting 200 is 200 of its deletes, of which a few are measured and the rest reckoned.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from mem0.vector_stores.faiss import FAISS
from numpy.typing import NDArray

from bench.local_alone import Act, alone, grown
from bench.report import Table, note_run
from shared.payloads import Details, new_payload
from shared.records import Add, By, Door
from shared.scope import Scope
from shared.stores.local.store import LocalStore
from shared.times import now

DIMENSIONS = 384
PERSON = Scope("ana", "app:notes")
HERS = 200
BIG = Scope("big", "app:notes")
BIGS = 20_000
BY = By("ana", Door.SERVICE)
WORDS = "likes drinks green tea morning before work near river with friends who live across town".split()  # noqa: SIM905 (read as words)

chance = np.random.default_rng(11)


def near(centre: NDArray[np.float32], spread: float = 0.8) -> NDArray[np.float32]:
    """A vector around a topic."""
    vector = centre + spread * chance.normal(size=DIMENSIONS).astype(np.float32) / np.sqrt(DIMENSIONS)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def topic() -> NDArray[np.float32]:
    vector = chance.normal(size=DIMENSIONS).astype(np.float32)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


TOPICS = [topic() for _ in range(300)]
HER_TOPICS = [topic() for _ in range(12)]


def memory(n: int, vector: NDArray[np.float32]) -> Add:
    words = " ".join(chance.choice(WORDS, 14)) + f" number {n}"
    return Add(str(uuid4()), new_payload(words, Details(metadata={"n": n}), now=now()), vector)


def of_others(count: int) -> list[tuple[Scope, Add]]:
    """Memories of people with 200 each."""
    scopes = [Scope(f"person{n}", "app:notes") for n in range(count // 200 + 1)]
    return [(scopes[n // 200], memory(n, near(TOPICS[n % 300]))) for n in range(count)]


class Ours:
    """The local store."""

    def __init__(self, store: LocalStore) -> None:
        self.store = store

    async def fill(self, memories: list[tuple[Scope, Add]]) -> None:
        by_scope: dict[Scope, list[Add]] = {}
        for scope, add in memories:
            by_scope.setdefault(scope, []).append(add)
        for scope, adds in by_scope.items():
            await self.store.commit(scope, adds, BY)

    async def insert(self, add: Add) -> None:
        await self.store.commit(PERSON, [add], BY)

    async def list_50(self) -> None:
        assert len((await self.store.page(PERSON, limit=50)).memories) == 50

    async def search(self, query: NDArray[np.float32]) -> list[str]:
        answer = await self.store.candidates(PERSON, vector=query, lexemes=[], limit=10)
        return [candidate.memory.id for candidate in answer.found]

    async def forget(self, memory_id: str) -> None:
        assert await self.store.forget(PERSON, memory_id, BY) == 1

    async def forget_all(self, scope: Scope = PERSON) -> int:
        return await self.store.forget_all(scope, BY, confirmed=None)


class Stock:
    """As mem0 calls it: a dictionary of the owner as the filter."""

    OWNER = {"user_id": PERSON.person, "agent_id": PERSON.application}  # noqa: RUF012 (read only)

    def __init__(self, directory: Path) -> None:
        self.store = FAISS("memories", str(directory), "cosine", embedding_model_dims=DIMENSIONS)

    async def fill(self, memories: list[tuple[Scope, Add]]) -> None:
        payloads = [{**a.payload, "user_id": s.person, "agent_id": s.application} for s, a in memories]
        vectors: list[Any] = [a.vector for _, a in memories]
        self.store.insert(vectors, payloads, [a.id for _, a in memories])

    async def insert(self, add: Add) -> None:
        await self.fill([(PERSON, add)])

    async def list_50(self) -> None:
        assert len(self.store.list(self.OWNER, 50)[0]) == 50

    async def search(self, query: NDArray[np.float32]) -> list[str]:
        return [str(found.id) for found in self.store.search("", [query.tolist()], 10, self.OWNER)]

    async def forget(self, memory_id: str) -> None:
        self.store.delete(memory_id)


async def timed(act: Callable[[], Awaitable[object]]) -> float:
    before = time.perf_counter()
    await act()
    return (time.perf_counter() - before) * 1000


def show(table: Table, what: str, *took: list[float], note: str = "") -> None:
    """Ours, and stock when it was measured."""
    medians: list[float | None] = [statistics.median(one) for one in took]
    mine, theirs = (*medians, None)[:2]
    table.add(what, mine, theirs, None if mine is None or theirs is None else theirs / mine, note)


def recall(found: list[str], exact: list[str]) -> float:
    return len(set(found) & set(exact)) / len(exact)


async def measure_alone(ours: Ours) -> dict[str, tuple[float, float]]:
    """Ours by itself; it holds afterwards what it held before."""
    added = [memory(10**7 + n, near(HER_TOPICS[0])) for n in range(50)]
    gone = [Scope(f"gone{n}", PERSON.application) for n in range(12)]
    await ours.fill([(scope, memory(n, near(HER_TOPICS[0]))) for scope in gone for n in range(HERS)])
    acts: dict[str, list[Act]] = {
        "list 50": [ours.list_50] * 200,
        "search": [partial(ours.search, near(HER_TOPICS[n % 12])) for n in range(200)],
        "insert one": [partial(ours.insert, add) for add in added],
        "forget one": [partial(ours.forget, add.id) for add in added],
        f"forget all of {HERS}": [partial(ours.forget_all, scope) for scope in gone],
    }
    return await alone(acts)


async def measure(table: Table, size: int, ours: Ours, stock: Stock) -> dict[str, tuple[float, float]]:
    """Turn by turn, into the table; what ours takes by itself."""
    others = of_others(size)
    hers = [memory(n, near(HER_TOPICS[n % 12])) for n in range(HERS)]
    everything = [*others, *((PERSON, add) for add in hers)]
    chance.shuffle(everything)
    engines: tuple[Ours | Stock, ...] = (ours, stock)
    await ours.fill(everything)
    by_itself = await measure_alone(ours)
    await stock.fill(everything)
    rounds = 30 if size <= 1_000 else 10 if size <= 10_000 else 3

    took: list[list[float]] = [[], []]
    added = [memory(10**6 + n, near(HER_TOPICS[0])) for n in range(rounds)]
    for add in added:
        took[0].append(await timed(lambda add=add: ours.insert(add)))  # type: ignore[misc]
        took[1].append(await timed(lambda add=add: stock.insert(add)))  # type: ignore[misc]
    show(table, "insert one", *took)

    took = [[], []]
    for _ in range(50):
        took[0].append(await timed(ours.list_50))
        took[1].append(await timed(stock.list_50))
    show(table, "list 50", *took, note="stock in no order")

    for kind, topics in (("her own topic", HER_TOPICS), ("an unusual topic", TOPICS)):
        took = [[], []]
        found: list[list[float]] = [[], []]
        for n in range(50):
            query = near(topics[n % len(topics)])
            exact = [a.id for a in sorted([*hers, *added], key=lambda a: -float(np.dot(a.vector, query)))[:10]]
            for i, engine in enumerate(engines):
                before = time.perf_counter()
                answer = await engine.search(query)
                took[i].append((time.perf_counter() - before) * 1000)
                found[i].append(recall(answer, exact))
        means = [statistics.mean(one) for one in found]
        show(table, "search", *took, note=f"{kind}: recall@10 {means[0]:.3f}, stock {means[1]:.3f}")

    took = [[], []]
    for add in added:
        took[0].append(await timed(lambda add=add: ours.forget(add.id)))  # type: ignore[misc]
        took[1].append(await timed(lambda add=add: stock.forget(add.id)))  # type: ignore[misc]
    show(table, "forget one", *took)

    before = time.perf_counter()
    assert await ours.forget_all() == HERS
    show(
        table,
        f"forget all of {HERS}",
        [(time.perf_counter() - before) * 1000],
        [statistics.median(took[1]) * HERS],
        note=f"stock: {HERS} times one",
    )
    return by_itself


async def of_many(table: Table, ours: Ours) -> None:
    """A person with 20,000 memories: the index is made at the first search, and kept."""
    adds = [memory(n, near(TOPICS[n % 300])) for n in range(BIGS)]
    for at in range(0, BIGS, 1000):
        await ours.store.commit(BIG, adds[at : at + 1000], BY)
    for what, lexemes, rounds in (
        ("search 20,000, the first", ["tea"], 1),
        ("search 20,000 by meaning", [], 20),
        ("search 20,000 by meaning and words", ["tea", "river", "friend", "town", "work"], 20),
    ):
        before = time.process_time()
        took = [
            await timed(lambda lexemes=lexemes: ours.store.candidates(BIG, vector=near(TOPICS[0]), lexemes=lexemes))  # type: ignore[misc]
            for _ in range(rounds)
        ]
        cpu = (time.process_time() - before) / rounds * 1000
        show(table, what, took, note=f"{cpu:.1f} ms of processor; exact: recall@10 1 by construction")


async def main(sizes: list[int]) -> None:
    tables, by_itself = [], {}
    for size in sizes:
        table = Table(f"Local store, {size:,} memories of others", ["act", "ours ms", "stock ms", "times faster", ""])
        with tempfile.TemporaryDirectory(prefix="rm-bench-") as directory, contextlib.redirect_stderr(io.StringIO()):
            store = await LocalStore.open(Path(directory) / "ours", dimensions=DIMENSIONS)
            ours = Ours(store)
            by_itself[size] = await measure(table, size, ours, Stock(Path(directory) / "stock"))
            if size == sizes[-1]:
                await of_many(table, ours)
            await store.close()
        tables.append(table)
    note_run("local", [*tables, grown(by_itself)])


if __name__ == "__main__":
    asyncio.run(main([int(one) for one in sys.argv[1:]] or [1_000, 10_000, 100_000]))
