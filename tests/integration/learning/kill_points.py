"""A program that learns and is killed before and after each of its steps, and says what was found afterwards.

`python -m tests.integration.learning.kill_points local|postgres DIRECTORY|DSN` prints a line of JSON for each step at
which a learner was killed. Each learner is a forked process with a person of its own, on the same store.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

import shared.db.pool as pool_module
from runtime_svc.learning import Learning, carry_out, learn
from runtime_svc.lesson import Lesson
from runtime_svc.ports import Extracted, Message
from shared.db.collection import Collection
from shared.db.pool import Database
from shared.payloads import Details, new_payload
from shared.records import Add, By, Door, Vector
from shared.scope import Scope
from shared.stores.local import database as local_database
from shared.stores.local.queue import LocalQueue
from shared.stores.local.store import LocalStore
from shared.stores.pg.queue import PostgresQueue
from shared.stores.pg.store import PostgresStore
from shared.stores.queue import UNFINISHED
from shared.times import now

DIMENSIONS = 8
FACTS = ["Likes tea", "Lives in Oslo"]
LESSON = Lesson(messages=[Message("user", "I like tea and live in Oslo")])
LEASE = timedelta(milliseconds=20)


class Steps:
    """Counts steps, and ends the process by SIGKILL at one of them."""

    def __init__(self, fatal: int | None) -> None:
        self.fatal = fatal
        self.taken = 0

    def step(self) -> None:
        if self.taken == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        self.taken += 1

    def around(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """The same coroutine function, a step before and a step after."""

        async def stepped(*args: Any, **kwargs: Any) -> Any:
            self.step()
            result = await method(*args, **kwargs)
            self.step()
            return result

        return stepped


class Unit:
    """One direction for every text."""

    dimensions = DIMENSIONS

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [np.eye(1, DIMENSIONS, dtype=np.float32)[0] for _ in texts]


class TwoFacts:
    """An LLM that finds the same two facts, and left one out."""

    async def extract(
        self, scope: Scope, messages: Sequence[Message], *, details: Details, instructions: str | None = None
    ) -> Extracted:
        vector = np.eye(1, DIMENSIONS, dtype=np.float32)[0]
        adds = [Add(str(uuid.uuid4()), new_payload(words, details, now=now()), vector) for words in FACTS]
        return Extracted(adds, "One was left out.")


@asynccontextmanager
async def opened(engine: str, where: str) -> AsyncIterator[Learning]:
    if engine == "local":
        store = await LocalStore.open(Path(where), dimensions=DIMENSIONS)
        yield Learning(store, Unit(), LocalQueue(store.database), TwoFacts())
        await store.close()
    else:
        database = Database(where)
        await database.open()
        yield Learning(
            PostgresStore(database, Collection("agent_memories")), Unit(), PostgresQueue(database), TwoFacts()
        )
        await database.close()


def watch(steps: Steps) -> None:
    """A step at every statement of either engine."""
    connect = local_database.Database._connect

    def watched(self: local_database.Database) -> Any:
        connection = connect(self)
        connection.set_trace_callback(lambda _: steps.step())
        return connection

    local_database.Database._connect = watched  # type: ignore[method-assign]
    for name in ("_execute", "_executemany", "execute"):
        setattr(pool_module._Connection, name, steps.around(getattr(pool_module._Connection, name)))


async def learner(engine: str, where: str, scope: Scope, steps: Steps, told: int) -> None:
    """Accept, tell the caller, take, learn. What is told stands in a pipe, whatever happens later."""
    watch(steps)
    async with opened(engine, where) as learning:
        learned = await learn(learning, scope, LESSON, By(scope.person, Door.APPS), idempotency_key="k")
        steps.step()
        os.write(told, json.dumps({"event": learned.event.id if learned.event else None}).encode())
        steps.step()
        claimed = await learning.queue.claim("mortal", LEASE)
        steps.step()
        if claimed is not None:
            await carry_out(learning, claimed, "mortal")
        steps.step()
    os.write(told, json.dumps({"steps": steps.taken}).encode())


async def survivor(engine: str, where: str, scope: Scope, event_id: str | None) -> dict[str, Any]:
    """What another process finds; the caller who was told nothing asks again with the same key."""
    async with opened(engine, where) as learning:
        before = None if event_id is None else await learning.queue.get(scope, event_id)
        again = await learn(learning, scope, LESSON, By(scope.person, Door.APPS), idempotency_key="k")
        await asyncio.sleep(LEASE.total_seconds() + 0.05 if engine == "postgres" else 0)
        await learning.queue.lapse()
        while (claimed := await learning.queue.claim("survivor", timedelta(seconds=30))) is not None:
            await carry_out(learning, claimed, "survivor")
        page = await learning.store.page(scope, limit=100)
        events = (await learning.queue.page(scope, limit=100)).events
        histories = [await learning.store.history(scope, memory.id) for memory in page.memories]
        return {
            "lost": event_id is not None and before is None,
            "unfinished_or_done": None if before is None else before.status in {*UNFINISHED, "SUCCEEDED"},
            "same_event": event_id in (None, again.event.id if again.event else None),
            "words": sorted(memory.words for memory in page.memories),
            "events": [event.status for event in events],
            "notes": [event.note for event in events],
            "results": [len(event.results) for event in events],
            "history": [len(history or ()) for history in histories],
        }


def forked(work: Callable[[int], None]) -> tuple[bool, str]:
    """Run work in a process of its own; whether it was killed, and what it wrote."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            work(writing)
        except BaseException as error:  # noqa: BLE001 (a forked process must end here)
            os.write(2, f"{error!r}\n".encode())
            os._exit(3)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit("a process failed")
    return os.WIFSIGNALED(status), text


def main(engine: str, where: str) -> None:
    """Until a learner came through alive."""
    fatal, killed = 0, True
    while killed:
        scope, steps = Scope(f"p{fatal}", "app:x"), Steps(fatal)
        killed, told = forked(lambda pipe: asyncio.run(learner(engine, where, scope, steps, pipe)))  # noqa: B023 (run at once)
        event = json.loads(told.split("}")[0] + "}")["event"] if "event" in told else None

        def look(pipe: int) -> None:
            found = asyncio.run(survivor(engine, where, scope, event))  # noqa: B023 (run at once)
            os.write(pipe, json.dumps(found).encode())

        _, found = forked(look)
        sys.stdout.write(json.dumps({"step": fatal, "killed": killed, "told": event, **json.loads(found)}) + "\n")
        sys.stdout.flush()
        fatal += 1


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
