"""Mixed work of several people while something is killed: what was acknowledged is there, and nothing is half done."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults.fleet import Fleet
from tests.waiting import until

APP = "/api/v1/apps/memories/desk"
PLATFORM = "/api/runtimes/v1/memories"
PEOPLE = ("ana", "ben", "cleo", "dan")
VICTIMS = ("runtime_svc", "postgres", "runtimes_svc")

Kept = dict[str, str]


@dataclass
class Person:
    """One who works without pause: one act at a time, so that one at most is in doubt after a kill."""

    uid: str
    chance: random.Random
    kept: Kept = field(default_factory=dict)
    doubt: tuple[str, str, str] | None = None
    """The act that was under way, its memory's id and its words."""
    acknowledged: int = 0

    async def work(self, fleet: Fleet, stop: asyncio.Event) -> None:
        """Until it is told to stop, or something fails."""
        while not stop.is_set() and self.doubt is None:
            act = self.chance.choices(["learn", "correct", "forget", "forget_all"], [6, 4, 2, 0.3])[0]
            if not self.kept:
                act = "learn"
            memory_id = self.chance.choice(sorted(self.kept)) if self.kept else ""
            words = f"{self.uid} said {self.chance.getrandbits(60):x}"
            self.doubt = (act, memory_id, words)
            status, said = await self._do(fleet, act, memory_id, words)
            if status == 200:
                self.kept = self._after(said["results"][0]["id"] if act == "learn" else memory_id)
                self.doubt, self.acknowledged = None, self.acknowledged + 1

    async def _do(self, fleet: Fleet, act: str, memory_id: str, words: str) -> tuple[int, Any]:
        if act == "learn":
            return await fleet.ask("runtime_svc", "POST", APP, uid=self.uid, json={"memory": words, "wait": True})
        if act == "correct":
            path = f"{PLATFORM}/{memory_id}"
            return await fleet.ask("runtimes_svc", "PATCH", path, uid=self.uid, json={"memory": words})
        if act == "forget":
            return await fleet.ask("runtime_svc", "DELETE", f"{APP}/{memory_id}", uid=self.uid)
        query = f"?agent_id=app:desk&count={len(self.kept)}"
        return await fleet.ask("runtimes_svc", "DELETE", PLATFORM + query, uid=self.uid)

    def _after(self, memory_id: str) -> Kept:
        """What is kept once the act in doubt was done."""
        assert self.doubt is not None
        act, _, words = self.doubt
        if act == "forget_all":
            return {}
        rest = {one: said for one, said in self.kept.items() if one != memory_id}
        return rest if act == "forget" else {**rest, memory_id: words}

    async def look(self, fleet: Fleet) -> None:
        """All of the act in doubt is there, or nothing of it; nothing else is lost, and histories agree."""
        status, said = await fleet.ask("runtimes_svc", "GET", PLATFORM, uid=self.uid, params={"limit": 1000})
        assert status == 200, said
        found = {one["id"]: one["memory"] for one in said["memories"]}
        possible = [self.kept]
        if self.doubt is not None:
            act, memory_id, words = self.doubt
            new = [one for one, told in found.items() if told == words]
            possible.append(self._after(new[0] if act == "learn" and new else memory_id))
        assert found in possible, (self.uid, self.doubt)
        assert said["total"] == len(found)
        for one in self.chance.sample(sorted(found), min(3, len(found))):
            _, told = await fleet.ask("runtime_svc", "GET", f"{APP}/{one}/history", uid=self.uid)
            assert told["history"][-1]["new_memory"] == found[one]
        _, hits = await fleet.ask("runtime_svc", "POST", f"{APP}/search", uid=self.uid, json={"query": self.uid})
        assert {one["id"] for one in hits["memories"]} <= set(found)
        self.kept, self.doubt = found, None


async def rounds_of_kills(directory: Path, rounds: int, *, seed: int) -> list[str]:
    """So many kills, each in the middle of the work of everybody; what each round came to."""
    chance = random.Random(seed)
    people = [Person(uid, random.Random(chance.getrandbits(32))) for uid in PEOPLE]
    told = []
    async with Fleet(directory, directory / "logs") as fleet:
        for number in range(rounds):
            victim = VICTIMS[number % len(VICTIMS)]
            before, stop = sum(one.acknowledged for one in people), asyncio.Event()
            async with asyncio.TaskGroup() as group:
                for one in people:
                    group.create_task(one.work(fleet, stop))
                await until(lambda: sum(one.acknowledged for one in people) >= before + len(people))  # noqa: B023 (awaited here)
                await asyncio.sleep(chance.random())
                await fleet.kill(victim)
                stop.set()
            await fleet.mend(victim)
            for one in people:
                await one.look(fleet)
            done = sum(one.acknowledged for one in people) - before
            told.append(f"{victim} killed: {done} acknowledged, {sum(len(one.kept) for one in people)} kept")
    return told
