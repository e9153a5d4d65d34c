"""`python -m bench.stores`: every act of the PostgreSQL store beside stock mem0's, turn by turn.

Both have the same memories in one database and are given the same vectors; embedding is not measured. One person has
200 memories at every size, so a cost that grows with the rows of others shows.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench import growth
from bench.filled import Filled, fill, server
from bench.people import ANA, APPLICATION, BIG, BIGS, HERS, People
from bench.report import Table, note_run, percentile
from bench.running import run, settle
from bench.sides import Ours, Side, Stock
from shared.db.pool import Database
from shared.records import Vector
from shared.scope import Scope

ROUNDS = 40
AT_ONCE = 8
FORGET_ALL_ROUNDS = 9
ALONE = 2.0
"""Seconds of each act of a side by itself."""
SECONDS = 1.0


@dataclass
class Times:
    """Milliseconds of an act on each side, and how many a second with several at once."""

    ours: list[float]
    stock: list[float]
    a_second: tuple[float, float] | None = None


class Measuring:
    """One size: everything is measured on both sides, one round of each in turn."""

    def __init__(self, people: People, filled: Filled, ours: Side, stock: Side) -> None:
        self._people = people
        self._vectors = filled.vectors
        self._sides = (ours, stock)
        self._rounds = ROUNDS if people.rows <= 10_000 else ROUNDS // 2
        self.found: dict[str, Times] = {}
        self.alone: dict[str, Times] = {}
        self.recall: dict[str, tuple[float, float]] = {}

    async def all(self) -> None:
        """Reads first: writes leave the people as they were."""
        await self._alone()
        await self._reads(ANA, HERS)
        await self._recalls(ANA, "its own topics", self._people.vector_of_hers)
        await self._recalls(ANA, "an unusual topic", self._people.unusual)
        if self._people.has_big:
            await self._big()
        await self._writes()
        await self._forget_all()
        if self._people.has_big:
            await self._forget_big()

    async def _alone(self) -> None:
        """Each side by itself: in turns, the scans of one leave the caches to its own rows, and slow the other."""
        query = (self._people.question(), self._people.vector_of_hers())
        acts: dict[str, Callable[[Side], Awaitable[object]]] = {
            "list 50": lambda side: side.list_50(ANA),
            "count": lambda side: side.count(ANA),
            "search": lambda side: side.search(ANA, *query),
        }
        for name, act in acts.items():
            ours, stock = [await _again_and_again(side, act) for side in self._sides]
            self.alone[name] = Times(ours, stock)

    async def _reads(self, scope: Scope, has: int) -> None:
        await self._turns("list 50", lambda side, _: _of(side.list_50(scope), 50), many=True)
        await self._turns("count", lambda side, _: _of(side.count(scope), has), many=True)
        queries = [(self._people.question(), self._people.vector_of_hers()) for _ in range(self._rounds)]
        await self._turns("search", lambda side, n: side.search(scope, *queries[n % len(queries)]), many=True)

    async def _big(self) -> None:
        await self._turns("list 50 of 20,000", lambda side, _: _of(side.list_50(BIG), 50))
        queries = [(self._people.question(), self._people.unusual()) for _ in range(self._rounds)]
        await self._turns("search 20,000", lambda side, n: side.search(BIG, *queries[n]))
        await self._turns("search 20,000 by meaning alone", lambda side, n: side.nearest(BIG, queries[n][1]))
        await self._recalls(BIG, "of 20,000", self._people.unusual)

    async def _writes(self) -> None:
        news = [(self._people.words(), self._people.vector_of_hers()) for _ in range(self._rounds)]
        kept: dict[str, list[str]] = {side.name: [] for side in self._sides}

        async def add(side: Side, n: int) -> None:
            kept[side.name].append(await side.add(ANA, *news[n]))

        await self._turns("add (verbatim)", add)
        others = [(self._people.words(), self._people.vector_of_hers()) for _ in news]
        await self._turns("correct", lambda side, n: side.correct(ANA, kept[side.name][n], *others[n]))
        await self._turns("forget one", lambda side, n: side.forget(ANA, kept[side.name][n]))

    async def _forget_all(self) -> None:
        times = Times([], [])
        for number in range(FORGET_ALL_ROUNDS):
            scope = Scope(f"gone{number}", APPLICATION)
            memories = [(self._people.words(), self._people.unusual()) for _ in range(HERS)]
            for side, took in zip(self._sides, (times.ours, times.stock), strict=True):
                await side.add_many(scope, memories)
                took.append(await _timed(side.forget_all(scope)))
        self.found[f"forget all of {HERS}"] = times

    async def _forget_big(self) -> None:
        """Ours only, while others read and learn in the same scope: never half of it is seen."""
        ours = self._sides[0]
        seen: set[int] = set()
        waited: list[float] = []
        ended = asyncio.Event()

        async def reading() -> None:
            while not ended.is_set():
                before = time.perf_counter()
                seen.add(await ours.count(BIG))
                await ours.list_50(BIG)
                waited.append((time.perf_counter() - before) * 1000)

        reader = asyncio.create_task(reading())
        learner = asyncio.create_task(ours.add(ANA, self._people.words(), self._people.unusual()))
        took = await _timed(ours.forget_all(BIG))
        ended.set()
        await asyncio.gather(reader, learner)
        assert seen <= {BIGS, 0}, f"half a state was seen: {seen}"
        one = percentile(self.found[f"forget all of {HERS}"].stock, 50) / HERS
        self.found["forget all of 20,000 (stock: reckoned)"] = Times([took], [one * BIGS])
        self.found["count + list 50 meanwhile, the longest"] = Times([max(waited)], [])

    async def _turns(self, name: str, act: Callable[[Side, int], Awaitable[object]], *, many: bool = False) -> None:
        times = Times([], [])
        for number in range(self._rounds):
            for side, took in zip(self._sides, (times.ours, times.stock), strict=True):
                took.append(await _timed(act(side, number)))
        if many:
            ours, stock = [await _throughput(side, act) for side in self._sides]
            times.a_second = (ours, stock)
        self.found[name] = times

    async def _recalls(self, scope: Scope, name: str, query: Callable[[], Vector]) -> None:
        """How many of the ten nearest, told exactly, each side finds by meaning alone."""
        shares: dict[str, list[float]] = {side.name: [] for side in self._sides}
        for _ in range(self._rounds):
            vector = query()
            exact = _nearest(self._vectors[scope.person], vector)
            for side in self._sides:
                shares[side.name].append(len(exact & set(await side.nearest(scope, vector))) / len(exact))
        ours, stock = [float(np.mean(shares[side.name])) for side in self._sides]
        self.recall[name] = (ours, stock)


async def _of(act: Awaitable[int], expected: int) -> None:
    found = await act
    assert found == expected, f"{found}, not {expected}"


async def _timed(act: Awaitable[object]) -> float:
    before = time.perf_counter()
    await act
    return (time.perf_counter() - before) * 1000


async def _again_and_again(side: Side, act: Callable[[Side], Awaitable[object]]) -> list[float]:
    """Milliseconds of each, for `ALONE` seconds; the first few warm up."""
    began, took = time.perf_counter(), list[float]()
    while time.perf_counter() - began < ALONE or len(took) < 10:
        took.append(await _timed(act(side)))
    return took[5:]


async def _throughput(side: Side, act: Callable[[Side, int], Awaitable[object]]) -> float:
    """How many acts a second, several at once."""
    began = time.perf_counter()

    async def again() -> int:
        done = 0
        while time.perf_counter() - began < SECONDS:
            await act(side, done)
            done += 1
        return done

    done = sum(await asyncio.gather(*(again() for _ in range(AT_ONCE))))
    return done / (time.perf_counter() - began)


def _nearest(vectors: Mapping[str, Vector], query: Vector) -> set[str]:
    ids = list(vectors)
    near = np.argsort(-(np.stack(list(vectors.values())) @ query))[:10]
    return {ids[at] for at in near}


_COLUMNS = ["act", "ours p50", "ours p95", "stock p50", "stock p95", "times faster"]


def _compared(took: Times) -> tuple[float | None, ...]:
    """Both medians and 95th percentiles, and how many times faster ours is."""
    ours, stock = percentile(took.ours, 50), percentile(took.stock, 50) if took.stock else None
    return (
        ours,
        percentile(took.ours, 95),
        stock,
        percentile(took.stock, 95) if took.stock else None,
        None if stock is None else stock / ours,
    )


def _tables(rows: int, measured: Measuring, filled: Filled) -> list[Table]:
    times = Table(
        f"PostgreSQL, {rows:,} memories: one act in turns with the other side's, milliseconds",
        [*_COLUMNS, f"ours a second, {AT_ONCE} at once", "stock a second"],
    )
    for act, took in measured.found.items():
        times.add(act, *_compared(took), *(took.a_second or (None, None)))
    alone = Table(f"{rows:,} memories: each side by itself, milliseconds", _COLUMNS)
    for act, took in measured.alone.items():
        alone.add(act, *_compared(took))
    recall = Table(f"{rows:,} memories: recall@10 against exact, by meaning alone", ["query", "ours", "stock"])
    for name, shares in measured.recall.items():
        recall.add(name, *shares)
    size = Table(f"{rows:,} memories: megabytes on disk, with indexes", ["", "ours", "stock"])
    size.add("the memory table", filled.ours / 1e6, filled.stock / 1e6)
    return [times, alone, recall, size]


async def measure(rows: int) -> tuple[list[Table], Measuring]:
    """Everything at one size."""
    people = People(rows)
    async with server() as held:
        filled = await fill(held.dsn, people)
        database = Database(held.dsn)
        await database.open()
        settle()
        stock = await asyncio.to_thread(Stock, held.dsn)
        measuring = Measuring(people, filled, Ours(database), stock)
        await measuring.all()
        stock.close()
        await database.close()
    return _tables(rows, measuring, filled), measuring


async def main(sizes: Sequence[int], part: str = "stores") -> None:
    tables: list[Table] = []
    for rows in sizes:
        found, measured = await measure(rows)
        tables += found
        acts = {act: took for act, took in (measured.found | measured.alone).items() if took.stock}
        growth.note(rows, {act: (percentile(took.ours, 50), percentile(took.stock, 50)) for act, took in acts.items()})
    note_run(part, tables)
    growth.draw()


if __name__ == "__main__":
    run(main([1_000, 100_000]))
