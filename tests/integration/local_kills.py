"""Run by test_local_kills in a process of its own: forks a writer that is killed in the middle of a write, and looks.

`python -m tests.integration.local_kills DIRECTORY ROUNDS SEED`
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import signal
import sqlite3
import sys
import threading
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from shared.records import By, Door, Patch, Vector
from shared.scope import Everything, Scope
from shared.stores.local.directory import DATABASE
from shared.stores.local.store import LocalStore
from shared.words import lemmatized, lexemes
from tests.conformance.build import DIMENSIONS, memory

BY = By("ana", Door.APPS)
SCOPES = [Scope(person, f"app:{name}") for person in ("ana", "ben") for name in ("notes", "travel")]
Model = dict[str, tuple[int, str]]
"""By memory id: the number of its scope, and its words."""


def vector_of(words: str) -> Vector:
    """The same for the same words: the oracle's and the store's."""
    seed = int.from_bytes(hashlib.sha256(words.encode()).digest()[:4], "big")
    vector = np.random.default_rng(seed).normal(size=DIMENSIONS).astype(np.float32)
    return vector / np.linalg.norm(vector)


def applied(model: Model, act: dict[str, Any]) -> Model:
    """What an act makes of what is kept."""
    match act["act"]:
        case "add":
            return model | {kept: (act["scope"], words) for kept, words in act["added"].items()}
        case "correct":
            return model | {act["id"]: (model[act["id"]][0], act["words"])}
        case "forget":
            return {kept: one for kept, one in model.items() if kept != act["id"]}
        case _:
            return {kept: one for kept, one in model.items() if one[0] != act["scope"]}


@dataclass
class Writer:
    """Writes without pause, says what it will do before and that it did after, and dies in the middle of one act."""

    store: LocalStore
    log: int
    random: random.Random
    model: Model
    dies_in: str
    acts_left: int
    count: int = field(default=0)

    def say(self, what: dict[str, Any] | str) -> None:
        os.write(self.log, json.dumps(what).encode() + b"\n")

    def words(self) -> str:
        marker = f"zq{self.random.getrandbits(40):010x}"
        return " ".join([marker] * self.random.choice([1, 3, 50, 400]))

    def next_act(self) -> dict[str, Any]:
        kind = self.random.choices(["add", "correct", "forget", "forget_all"], [6, 4, 2, 0.5])[0]
        scope = self.random.randrange(len(SCOPES))
        if kind == "add" or not self.model:
            added = {f"{n:08x}-0000-4000-8000-{self.random.getrandbits(48):012x}": self.words() for n in range(3)}
            return {"act": "add", "scope": scope, "added": added}
        chosen = self.random.choice(sorted(self.model))
        return {"act": kind, "scope": scope, "id": chosen, "words": self.words()}

    async def perform(self, act: dict[str, Any]) -> None:
        scope = SCOPES[act["scope"]]
        match act["act"]:
            case "add":
                adds = [memory(words, vector=vector_of(words), memory_id=i) for i, words in act["added"].items()]
                await self.store.commit(scope, adds, BY)
            case "correct":
                patch = Patch(act["words"], lemmatized(act["words"]), vector_of(act["words"]))
                await self.store.correct(SCOPES[self.model[act["id"]][0]], act["id"], patch, BY)
            case "forget":
                await self.store.forget(SCOPES[self.model[act["id"]][0]], act["id"], BY)
            case _:
                await self.store.forget_all(scope, BY, confirmed=None)

    async def run(self) -> None:
        while True:
            act = self.next_act()
            self.acts_left -= 1
            self.say(act)
            if self.acts_left < 0 and act["act"] == self.dies_in:
                threading.Timer(self.random.random() * 0.012, os.kill, (os.getpid(), signal.SIGKILL)).start()
            await self.perform(act)
            self.say("done")
            self.model = applied(self.model, act)


def killed(directory: Path, log: Path, seed: int, model: Model, dies_in: str) -> list[Any]:
    """A writer's life: what it said until it was killed."""
    log.write_bytes(b"")
    child = os.fork()
    if child == 0:

        async def live() -> None:
            store = await LocalStore.open(directory, dimensions=DIMENSIONS)
            descriptor = os.open(log, os.O_WRONLY | os.O_APPEND)
            chance = random.Random(seed)
            await Writer(store, descriptor, chance, model, dies_in, chance.randrange(25)).run()

        asyncio.run(live())
        os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL, status
    return [json.loads(line) for line in log.read_text().splitlines()]


async def look(directory: Path, before: Model, after: Model, said: set[str]) -> Model:
    """Open what the killed one left: all of the last act is there, or nothing of it; nothing else is lost or back."""
    with closing(sqlite3.connect(directory / DATABASE)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    store = await LocalStore.open(directory, dimensions=DIMENSIONS)
    found: Model = {}
    for number, scope in enumerate(SCOPES):
        for one in (await store.page(scope, limit=100_000)).memories:
            found[one.id] = (number, one.words)
            history = await store.history(scope, one.id)
            assert history
            assert history[-1].new_words == one.words
    assert found in (before, after), (len(found), len(before), len(after))
    for person in {scope.person for scope in SCOPES}:
        mine = {kept: words for kept, (n, words) in found.items() if SCOPES[n].person == person}
        await agrees(store, Everything(person), mine)
    await store.close()
    # A corrected memory's older words stay in its history until it is forgotten; what is nowhere kept is in no byte.
    content = b"".join(path.read_bytes() for path in directory.iterdir())
    with closing(sqlite3.connect(directory / DATABASE)) as database:
        old = " ".join(row[0] for row in database.execute("SELECT old_words FROM history WHERE old_words IS NOT NULL"))
    gone = said - {words.split()[0] for _, words in found.values()} - set(old.split())
    assert not [marker for marker in gone if marker.encode() in content]
    return found


async def agrees(store: LocalStore, reach: Everything, mine: dict[str, str]) -> None:
    """Search finds what a brute-force oracle finds."""
    query = vector_of("anything")
    best = sorted(mine, key=lambda kept: -float(np.dot(vector_of(mine[kept]), query)))[:10]
    answer = await store.candidates(reach, vector=query, lexemes=[], limit=10)
    assert {candidate.memory.id for candidate in answer.found} == set(best)
    for kept in best[:3]:
        word = mine[kept].split()[0]
        assert kept in {c.memory.id for c in (await store.candidates(reach, vector=None, lexemes=lexemes(word))).found}


def main(directory: Path, rounds: int, seed: int) -> None:
    model: Model = {}
    said: set[str] = set()
    chance = random.Random(seed)
    log = directory.parent / f"{directory.name}.log"
    for round_ in range(rounds):
        dies_in = ["add", "forget_all", "forget", "correct"][round_ % 4]
        lines = killed(directory, log, chance.getrandbits(32), model, dies_in)
        acts = [line for line in lines if line != "done"]
        for act in acts:
            said |= {words.split()[0] for words in [*act.get("added", {}).values(), act.get("words", "")] if words}
        finished = lines.count("done")
        for act in acts[:finished]:
            model = applied(model, act)
        last = acts[finished:]
        after = applied(model, last[0]) if last else model
        model = asyncio.run(look(directory, model, after, said))
        sys.stdout.write(f"killed in {dies_in}: {finished} acknowledged, {len(model)} kept\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
