"""`python -m bench.walls`: what row-level security costs the stores' hot paths: without it, on memories only, on all.

Three databases of one server with the same data; each act in turn on all three, for another person each time, so that
every one is told anew. The server does not wait for a disk: what is compared is what it and the driver compute.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import asyncpg
import numpy as np

from shared.db.collection import Collection
from shared.db.embedded import ROLE, EmbeddedServer, embedded
from shared.db.pool import Database, Limits
from shared.db.preparing import prepare
from shared.payloads import Details, new_payload
from shared.records import Add, By, Door, Patch
from shared.scope import Everything, Scope
from shared.stores.pg.queue import PostgresQueue
from shared.stores.pg.store import PostgresStore
from shared.stores.ports import Accepted
from shared.times import now

COLLECTION = Collection("agent_memories")
PEOPLE, MEMORIES, ROUNDS = 200, 50, 600
BY = By("bench", Door.APPS)
LEASE = timedelta(minutes=5)
_NUMBER, _DICE = itertools.count(), np.random.default_rng(1)


@dataclass
class Walled:
    """The stores over one database, and the memories that each person has there."""

    store: PostgresStore
    queue: PostgresQueue
    ids: list[list[str]]


def an_add() -> Add:
    payload = new_payload(f"Fact {next(_NUMBER)}", Details(), now=now())
    return Add(str(uuid4()), payload, _DICE.random(384, dtype=np.float32))


def scope(person: int) -> Scope:
    return Scope(f"p{person}", "app:desk")


async def add(walled: Walled, person: int) -> None:
    walled.ids[person] += [one.id for one in await walled.store.commit(scope(person), [an_add()], BY)]


async def correct(walled: Walled, person: int) -> None:
    words = f"fact {next(_NUMBER)}"
    changed = await walled.store.correct(
        Everything(f"p{person}"), walled.ids[person][0], Patch(words=words, lexemes=words), BY
    )
    assert changed is not None


async def forget(walled: Walled, person: int) -> None:
    assert await walled.store.forget(Everything(f"p{person}"), walled.ids[person].pop(), BY)


async def accept(walled: Walled, person: int) -> None:
    await walled.queue.enqueue(scope(person), {}, BY, extracts=False, idempotency_key=None, most=10_000)


async def take(walled: Walled, _: int) -> None:
    """A learn, whoever's it is, and its end."""
    claimed = await walled.queue.claim("bench", LEASE)
    assert claimed is not None
    await walled.store.commit(claimed.scope, [], claimed.by, accepted=Accepted(claimed.epoch, claimed.id))


ACTS: dict[str, Callable[[Walled, int], Awaitable[object]]] = {
    "list 50": lambda walled, person: walled.store.page(scope(person), limit=50),
    "add": add,
    "correct": correct,
    "forget one": forget,
    "accept a learn": accept,
    "take a learn and end it": take,
}


async def walled(server: EmbeddedServer, name: str, held: AsyncExitStack) -> Walled:
    """A filled database: `without` any wall, with one on `memories` only, or on `all`."""
    admin = await asyncpg.connect(server.admin_dsn)
    await admin.execute(f"CREATE DATABASE wall_{name} TEMPLATE {ROLE} OWNER {ROLE}")
    await admin.close()
    dsn = server.dsn_of(f"wall_{name}", role=ROLE)
    await prepare(dsn, COLLECTION, 384, with_ddl=True, row_security=name != "without")
    plain = await asyncpg.connect(dsn)
    if name == "memories":
        for row in await plain.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'runtime_memory'"):
            await plain.execute(f"ALTER TABLE runtime_memory.{row[0]} DISABLE ROW LEVEL SECURITY")
    database = Database(dsn, Limits(row_security=name != "without"))
    await database.open()
    held.push_async_callback(database.close)
    made = Walled(PostgresStore(database, COLLECTION), PostgresQueue(database), [])
    for person in range(PEOPLE):
        outcomes = await made.store.commit(scope(person), [an_add() for _ in range(MEMORIES)], BY)
        made.ids.append([one.id for one in outcomes])
    await plain.execute("VACUUM ANALYZE")
    await plain.close()
    return made


async def main() -> None:
    async with AsyncExitStack() as held:
        directory = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="rm-bench-")))
        directory.chmod(0o755)
        server = await held.enter_async_context(embedded(directory / "pg", durable=False))
        all_of = {name: await walled(server, name, held) for name in ("without", "memories", "all")}
        took: dict[tuple[str, str], list[float]] = {(act, name): [] for act in ACTS for name in all_of}
        for number in range(ROUNDS):
            order = list(all_of.items())
            random.shuffle(order)
            for step, (act, run) in enumerate(ACTS.items()):
                for name, one in order:
                    began = time.perf_counter()
                    await run(one, (number * len(ACTS) + step) % PEOPLE)
                    took[act, name].append((time.perf_counter() - began) * 1000)
    for act in ACTS:
        # The quick tenth: what others do on the machine only makes it slower.
        quick = {name: sorted(took[act, name])[ROUNDS // 10] for name in all_of}
        shown = "  ".join(f"{name} {one:.2f}" for name, one in quick.items())
        ratios = (
            f"all/without {quick['all'] / quick['without']:.2f}  all/memories {quick['all'] / quick['memories']:.2f}"
        )
        print(f"{act:>24}: {shown} ms  {ratios}")


if __name__ == "__main__":
    asyncio.run(main())
