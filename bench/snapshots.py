"""Snapshots of many memories: time and memory of saving, exporting, taking in, restoring and erasing.

`python -m bench.snapshots [--memories 20000] [--engine postgres|local]`
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np

from shared.db.collection import Collection
from shared.db.embedded import ROLE, EmbeddedServer
from shared.db.pool import Database
from shared.db.preparing import prepare
from shared.payloads import Details, new_payload
from shared.records import Add, By, Door
from shared.scope import Everything, Scope
from shared.snapshots import saving
from shared.snapshots.document import saved
from shared.stores.local.store import LocalStore
from shared.stores.pg.states import PostgresStates
from shared.stores.pg.store import PostgresStore
from shared.stores.ports import MemoryStore
from shared.stores.states import StateStore
from shared.times import now

T = TypeVar("T")
DIMENSIONS = 384
COLLECTION = Collection("agent_memories")
PERSON = Everything("ana")
BY = By("ana", Door.STATE)
_PIECE = 64 * 1024


def peak() -> float:
    """MiB that this process, which is both client and service here, has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def timed(name: str, work: Awaitable[T]) -> T:
    started = time.perf_counter()
    result = await work
    print(f"{name:<12} {time.perf_counter() - started:7.2f} s   peak {peak():6.0f} MiB")
    return result


async def fill(store: MemoryStore, count: int) -> None:
    words = [f"word{n}" for n in range(5000)]
    random = np.random.default_rng(1)
    for start in range(0, count, 500):
        adds = []
        for number in range(start, min(start + 500, count)):
            text = f"Memory {number}: " + " ".join(random.choice(words, 25))
            vector = random.normal(size=DIMENSIONS).astype(np.float32)
            payload = new_payload(text, Details(run_id=f"run-{number % 50}" if number % 3 else None), now=now())
            adds.append(Add(str(uuid.uuid4()), payload, vector / np.linalg.norm(vector)))
        await store.commit(Scope(PERSON.person, f"app:{start // 5000}"), adds, BY)


async def export(states: StateStore, state_id: str, path: Path) -> None:
    state = await saving.one(states, PERSON, state_id)
    with path.open("wb") as file:
        async for piece in saved(states, PERSON, state, shown_to=PERSON, whole=True):
            file.write(piece)


async def pieces(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece


async def look(states: StateStore) -> int:
    return sum(len(piece) for piece in (await saving.current(states, PERSON)).pieces)


@asynccontextmanager
async def postgres(directory: Path) -> AsyncIterator[tuple[MemoryStore, StateStore]]:
    """On an embedded server of its own."""
    server = await EmbeddedServer.hold(directory / "pg")
    try:
        dsn = server.dsn_of(ROLE, role=ROLE)
        await prepare(dsn, COLLECTION, DIMENSIONS, with_ddl=True)
        database = Database(dsn)
        await database.open()
        yield PostgresStore(database, COLLECTION), PostgresStates(database, COLLECTION, DIMENSIONS)
        await database.close()
    finally:
        await server.release()


@asynccontextmanager
async def local(directory: Path) -> AsyncIterator[tuple[MemoryStore, StateStore]]:
    """In a directory."""
    store = await LocalStore.open(directory / "local", dimensions=DIMENSIONS)
    yield store, store.states
    await store.close()


async def measure(store: MemoryStore, states: StateStore, count: int, directory: Path) -> None:
    file = directory / "export.json"
    print(f"{count} memories of {DIMENSIONS} dimensions")
    await timed("learn", fill(store, count))
    print(f"{'':<12} {await timed('look', look(states)) / 1e6:7.1f} MB of JSON")
    state = await timed("save", saving.save(states, PERSON))
    print(f"{'':<12} {state.size / 1e6:7.1f} MB kept")
    await timed("export", export(states, state.id, file))
    print(f"{'':<12} {file.stat().st_size / 1e6:7.1f} MB of JSON")
    await timed("erase", states.erase(PERSON, BY, allowances=False, snapshots=True))
    taken = await timed("import", saving.take_in(states, PERSON, pieces(file)))
    _, _, done = await timed(
        "restore", saving.restore(states, PERSON, PERSON, taken.state.id, BY, respect_forgotten=False)
    )
    print(f"{'':<12} {done.memories} memories restored")
    await timed("again", saving.restore(states, PERSON, PERSON, taken.state.id, BY, respect_forgotten=False))
    again = await timed("save again", saving.save(states, PERSON))
    print("the same" if again.id == taken.state.id == state.id else "NOT the same")


async def main(engine: str, count: int) -> None:
    with tempfile.TemporaryDirectory(prefix="rm-bench-") as name:
        directory = Path(name)
        directory.chmod(0o755)
        print(engine)
        async with postgres(directory) if engine == "postgres" else local(directory) as (store, states):
            await measure(store, states, count, directory)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--engine", choices=("postgres", "local"), default="postgres")
    said = parser.parse_args()
    asyncio.run(main(said.engine, said.memories))
