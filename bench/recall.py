"""Whether the right memory is found: ours on both engines beside stock mem0, on one embedder.

`python -m bench.recall FILE` prints a table and writes `bench/out/recall.json`: engine → path → category → figures.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

from bench.engines import Turns, Vectors, analyse, learn, local, postgres, scope_of
from bench.locomo import Conversation, Figures, Question, Tally, read
from bench.stock_mem0 import Stock
from runtime_svc.engine.embedder import MiniLM
from shared import ranking
from shared.candidates import Candidates
from shared.db.embedded import embedded
from shared.periods import named
from shared.records import Vector
from shared.stores.ports import MemoryStore
from shared.words import query

OUT = Path(__file__).parent / "out" / "recall.json"

WITHOUT: dict[str, dict[str, float]] = {
    "ours": {},
    "without neighbours": {"_NEXT": 0, "_SECOND": 0, "_ASKS": 0},
    "without second neighbours": {"_SECOND": 0},
    "without minding questions": {"_ASKS": 0, "_ASKED": 0},
    "without the named period": {"_THEN": 0},
    "without newest of alike": {"_ALIKE_FOUND": 0},
    "without all of these": {"_NEXT": 0, "_SECOND": 0, "_ASKS": 0, "_THEN": 0, "_ALIKE_FOUND": 0},
}
"""What is switched off in each path of ours, to see what it adds."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a store gave for one question."""

    question: Question
    candidates: Candidates
    turns: Turns


class Clock:
    """CPU milliseconds of this process (all its threads), by what they were spent on."""

    def __init__(self) -> None:
        self._spent: defaultdict[str, list[float]] = defaultdict(list)

    @contextmanager
    def of(self, what: str) -> Iterator[None]:
        started = time.process_time()
        yield
        self._spent[what].append((time.process_time() - started) * 1000)

    def medians(self) -> dict[str, float]:
        return {what: round(median(spent), 3) for what, spent in self._spent.items()}


async def ask(
    store: MemoryStore,
    conversations: Sequence[Conversation],
    turns: Mapping[str, Turns],
    vectors: Vectors,
    clock: Clock,
) -> list[Found]:
    """Fetch the candidates of every question."""
    found = []
    for one in conversations:
        for question in one.questions:
            with clock.of("words of the query"):
                sought = query(question.words)
            with clock.of("candidates"):
                candidates = await store.candidates(
                    scope_of(one), vector=vectors[question.words], lexemes=sought.lexemes
                )
            found.append(Found(question, candidates, turns[one.person]))
    for one in conversations:
        for question in one.questions:
            with clock.of("candidates by meaning alone"):
                await store.candidates(scope_of(one), vector=vectors[question.words], lexemes=())
    return found


def measured(found: Sequence[Found], clock: Clock) -> dict[str, dict[str, Figures]]:
    """The figures of each path over what a store gave."""
    paths: dict[str, dict[str, Figures]] = {
        "meaning alone": _figures([replace(one, candidates=_by_meaning(one.candidates)) for one in found]),
        "words alone": _figures([replace(one, candidates=_by_words(one.candidates)) for one in found]),
    }
    for name, switched_off in WITHOUT.items():
        with ExitStack() as stack:
            for constant, value in switched_off.items():
                stack.enter_context(patch.object(ranking, constant, value))
            paths[name] = _figures(found, clock if name == "ours" else None)
    return paths


def _figures(found: Sequence[Found], clock: Clock | None = None) -> dict[str, Figures]:
    tally = Tally()
    today = datetime.now(UTC).date()
    for one in found:
        with (clock or Clock()).of("ranking"):
            ranked = _ranked(one, today)
        tally.count(one.question, [one.turns[memory.memory.id] for memory in ranked])
    return tally.figures()


def _ranked(one: Found, today: date) -> list[ranking.Ranked]:
    sought = query(one.question.words)
    groups = sought.groups if one.candidates.frequencies else None
    period = named(one.question.words, today)
    return ranking.rank(one.candidates, limit=20, groups=groups, period=period)


def _by_meaning(candidates: Candidates) -> Candidates:
    return replace(
        candidates,
        found=[one._replace(terms=(), neighbours=()) for one in candidates.found],
        frequencies=(),
    )


def _by_words(candidates: Candidates) -> Candidates:
    return replace(candidates, found=[one._replace(cosine=None, neighbours=()) for one in candidates.found])


def ask_stock(dsn: str, conversations: Sequence[Conversation], vectors: Vectors, clock: Clock) -> dict[str, Figures]:
    """The figures of mem0 as released."""
    stock = Stock(dsn, vectors)
    turns = {one.person: stock.learn(one) for one in conversations}
    tally = Tally()
    for one in conversations:
        for question in one.questions:
            with clock.of("search without embedding"):
                found = stock.search(question.words, one.person)
            tally.count(question, [turns[one.person][key] for key in found])
    return tally.figures()


async def embed(conversations: Sequence[Conversation], clock: Clock) -> dict[str, Vector]:
    """Vectors of all turns, and of all questions one by one as a service meets them."""
    embedder = await MiniLM.open()
    vectors: dict[str, Vector] = {}
    for one in conversations:
        texts = [turn.words for turn in one.turns]
        vectors |= dict(zip(texts, await embedder.embed(texts), strict=True))
        for question in one.questions:
            with clock.of("embedding the query"):
                (vectors[question.words],) = await embedder.embed([question.words])
    await embedder.close()
    return vectors


async def measure(conversations: Sequence[Conversation]) -> dict[str, Any]:
    clocks = {name: Clock() for name in ("embedder", "postgres", "local", "stock mem0 2.2.1")}
    say("embedding")
    vectors = await embed(conversations, clocks["embedder"])
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="bench-recall-", dir="/tmp") as scratch:
        async with embedded(Path(scratch) / "pg", durable=False) as server, postgres(server.dsn) as store:
            say("postgres")
            turns = await learn(store, conversations, vectors)
            await analyse(server.dsn)
            found = await ask(store, conversations, turns, vectors, clocks["postgres"])
            result["postgres"] = measured(found, clocks["postgres"])
            say("stock mem0")
            clock = clocks["stock mem0 2.2.1"]
            result["stock mem0 2.2.1"] = {
                "search": await asyncio.to_thread(ask_stock, server.dsn, conversations, vectors, clock)
            }
        async with local(Path(scratch) / "local") as store:
            say("local")
            turns = await learn(store, conversations, vectors)
            found = await ask(store, conversations, turns, vectors, clocks["local"])
            result["local"] = measured(found, clocks["local"])
    result["cpu_ms_per_query"] = {name: clock.medians() for name, clock in clocks.items()}
    return result


def say(what: str) -> None:
    """What is being done, for who waits."""
    print(f"… {what}", file=sys.stderr, flush=True)


def show(result: Mapping[str, Any]) -> None:
    """Print what was measured, categories 1 to 4, and what a query costs."""
    print(f"{'engine':18}{'path':28}{'R@5':>7}{'R@10':>7}{'R@20':>7}{'MRR':>7}   R@10 by category 1 2 3 4 5")
    for engine, paths in result.items():
        if engine == "cpu_ms_per_query":
            continue
        for path, figures in paths.items():
            every = figures["1-4"]
            columns = "".join(f"{every[name]:7.3f}" for name in ("recall@5", "recall@10", "recall@20", "mrr"))
            by_category = " ".join(f"{figures[c]['recall@10']:.3f}" for c in "12345" if c in figures)
            print(f"{engine:18}{path:28}{columns}   {by_category}")
    print("\nCPU-ms per query (this process; median):")
    for engine, spent in result["cpu_ms_per_query"].items():
        print(f"  {engine}: " + ", ".join(f"{what} {ms}" for what, ms in spent.items()))
        if "ranking" in spent:
            ratio = _against_meaning_alone(result, engine)
            print(f"    whole search: {ratio:.2f} of embedding and searching by meaning alone")


def _against_meaning_alone(result: Mapping[str, Any], engine: str) -> float:
    embedding = result["cpu_ms_per_query"]["embedder"]["embedding the query"]
    spent = result["cpu_ms_per_query"][engine]
    alone = spent["candidates by meaning alone"]
    return float((embedding + sum(spent.values()) - alone) / (embedding + alone))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, help="conversations and questions, in the form of locomo10.json")
    parser.add_argument("--data", dest="named", type=Path, help="the same")
    given = parser.parse_args()
    path = given.named or given.data
    if path is None:
        parser.error("say which data")
    result = asyncio.run(measure(read(path)))
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(result, indent=2))
    show(result)
    print(f"\nwritten: {OUT}")


if __name__ == "__main__":
    main()
