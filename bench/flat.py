"""`python -m bench.flat [--rows N …]`: what one person's acts cost as everybody's memories grow, to a million.

Ours alone on PostgreSQL: the same person with 200 memories at each size, the same acts, one after another. With
stock: `python -m bench.million`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Awaitable, Callable, Sequence

from bench.filled import fill, server
from bench.people import ANA, APPLICATION, BIG, HERS, People
from bench.report import Table, note_run, percentile
from bench.running import run, settle
from bench.sides import Ours
from shared.db.pool import Database
from shared.scope import Scope

SECONDS = 3.0
"""Of each act; at least `LEAST` rounds, the first `WARM` not counted."""
LEAST = 20
WARM = 5
BIGS = ("search of 20,000 by meaning", "search of 20,000, words too")


async def measure(rows: int) -> dict[str, list[float]]:
    """Milliseconds of each act at one size."""
    people = People(rows)
    async with server() as held:
        filled = await fill(held.dsn, people, stock=False)
        database = Database(held.dsn)
        await database.open()
        settle()
        try:
            found = await _acts(Ours(database), people)
        finally:
            await database.close()
        return {**found, "megabytes of the table": [filled.ours / 1e6]}


async def _acts(ours: Ours, people: People) -> dict[str, list[float]]:
    kept: list[str] = []

    async def add() -> None:
        kept.append(await ours.add(ANA, people.words(), people.vector_of_hers()))

    acts: dict[str, Callable[[], Awaitable[object]]] = {
        "list 50": lambda: ours.list_50(ANA),
        "count": lambda: ours.count(ANA),
        "search": lambda: ours.search(ANA, people.question(), people.vector_of_hers()),
    }
    if people.has_big:
        acts[BIGS[0]] = lambda: ours.nearest(BIG, people.unusual())
        acts[BIGS[1]] = lambda: ours.search(BIG, people.question(), people.unusual())
    found = {name: await _again_and_again(act) for name, act in acts.items()}
    found["add (verbatim)"] = await _again_and_again(add)
    found["correct"] = await _each(
        [ours.correct(ANA, one, people.words(), people.vector_of_hers()) for one in kept[:200]]
    )
    found["forget one"] = await _each([ours.forget(ANA, one) for one in kept])
    found[f"forget all of {HERS}"] = [await _forget_all(ours, people, n) for n in range(LEAST)][WARM:]
    return found


async def _again_and_again(act: Callable[[], Awaitable[object]]) -> list[float]:
    began, took = time.perf_counter(), list[float]()
    while time.perf_counter() - began < SECONDS or len(took) < LEAST:
        took.append(await _timed(act()))
    return took[WARM:]


async def _each(acts: Sequence[Awaitable[object]]) -> list[float]:
    return [await _timed(act) for act in acts][WARM:]


async def _forget_all(ours: Ours, people: People, number: int) -> float:
    scope = Scope(f"gone{number}", APPLICATION)
    await ours.add_many(scope, [(people.words(), people.unusual()) for _ in range(HERS)])
    return await _timed(ours.forget_all(scope))


async def _timed(act: Awaitable[object]) -> float:
    before = time.perf_counter()
    await act
    return (time.perf_counter() - before) * 1000


async def main(sizes: Sequence[int]) -> None:
    measured = {rows: await measure(rows) for rows in sizes}
    least = measured[sizes[0]]
    table = Table(
        "PostgreSQL, ours alone: one act of one person, milliseconds (p50, p95) by everybody's memories",
        ["act", *[f"{rows:,} {share}" for rows in sizes for share in ("p50", "p95")], "last / first, p50"],
    )
    for act in measured[sizes[-1]]:
        cells = [percentile(m[act], share) if act in m else None for m in measured.values() for share in (50, 95)]
        table.add(
            act, *cells, percentile(measured[sizes[-1]][act], 50) / percentile(least[act], 50) if act in least else None
        )
    note_run("flat", [table])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 100_000, 1_000_000])
    run(main(parser.parse_args().rows))
