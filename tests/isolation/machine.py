"""The random driver: rules that act as anybody through any door, each held to the model at once."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from shared.http.auth import OPEN_PATHS
from tests.chat_provider import Provider
from tests.contract.routes import BODY, Route, routes_of_all
from tests.contract.test_default_deny import PAGE
from tests.isolation import doors
from tests.isolation.world import APPS, Caller, Snapshot, World, quoted
from tests.services import Service

T = TypeVar("T")

_SHARES = "/api/runtimes/v1/memory-shares"
_PLATFORM_ONLY = "platform"
PERSON = st.integers(0, 7)
APP = st.sampled_from(APPS)
CREDENTIAL = st.sampled_from(["token", "key", "bound", "impersonating"])
NUMBER = st.integers(0, 10_000)


@dataclass
class Stage:
    """The services that every life of a run is played on, one after the other: what is kept of old ones is in the way."""

    runner: asyncio.Runner
    runtime: Service
    platform: Service | None
    provider: Provider
    lives: int = 0
    steps: int = 0
    calls: int = 0
    routes: list[tuple[Service, Route]] = field(default_factory=list)

    def __post_init__(self) -> None:
        both = [self.runtime, *([] if self.platform is None else [self.platform])]
        self.routes = routes_of_all(both)


class Isolation(RuleBasedStateMachine):
    """One life."""

    stage: ClassVar[Stage]

    def run(self, work: Awaitable[T]) -> T:
        async def awaited() -> T:
            return await work

        return self.stage.runner.run(awaited())

    @initialize()
    def begin(self) -> None:
        self.stage.lives += 1
        self.world = World(self.stage.runtime, self.stage.platform, self.stage.provider, self.stage.lives)
        self.callers: dict[tuple[str, str, str], Caller] = {}
        self.run(self.world.open())

    def door(self, doors_of: Any, number: int) -> str:
        there = [one for one in doors_of if self.world.platform is not None or one != _PLATFORM_ONLY]
        return there[number % len(there)]

    async def caller(self, person: int, credential: str, app: str) -> Caller:
        """A credential of a person; a bound key is bound to the application, or to the first one."""
        self.stage.steps += 1
        who = self.world.people[person]
        if credential == "token":
            return self.world.token(who)
        if credential == "impersonating":
            return self.world.impersonating(who)
        bound = app if credential == "bound" else None
        if (who, credential, app) not in self.callers:
            self.callers[who, credential, app] = await self.world.key(who, bound)
        return self.callers[who, credential, app]

    @rule(person=PERSON, credential=CREDENTIAL, bound=APP, app=APP, number=NUMBER)
    def learn(self, person: int, credential: str, bound: str, app: str, number: int) -> None:
        async def work() -> None:
            caller, place = await self.caller(person, credential, bound), (self.world.people[person], app)
            words = self.world.words(place)
            status, kept = await doors.LEARN[self.door(doors.LEARN, number)](self.world, caller, app, words)
            assert (status == 200) == caller.may(app), (status, app, caller.bound)
            if kept is not None:
                self.world.memories[place][kept] = words

        self.run(work())

    @rule(person=PERSON, credential=CREDENTIAL, bound=APP, app=APP, number=NUMBER)
    def look(self, person: int, credential: str, bound: str, app: str, number: int) -> None:
        async def work() -> None:
            caller = await self.caller(person, credential, bound)
            status, found, total = await doors.LIST[self.door(doors.LIST, number)](self.world, caller, app)
            own = self.world.memories[caller.person, app]
            if caller.may(app):
                assert (status, found) == (200, own)
                assert total in (None, len(own))
            else:
                assert not found, (status, found)

        self.run(work())

    @rule(person=PERSON, credential=CREDENTIAL, bound=APP, app=APP, number=NUMBER)
    def find(self, person: int, credential: str, bound: str, app: str, number: int) -> None:
        async def work() -> None:
            caller = await self.caller(person, credential, bound)
            door = self.door(doors.FIND, number)
            status, said = await doors.find(self.world, caller, app, door, "what does she like to do?")
            if caller.may(app):
                assert status == 200, said
                assert "unread" not in said
            elif status == 200:
                assert not said.get("memories", said.get("results")), said

        self.run(work())

    @rule(
        person=PERSON,
        credential=CREDENTIAL,
        bound=APP,
        app=APP,
        number=NUMBER,
        chosen=NUMBER,
        act=st.sampled_from(["get", "history", "correct", "forget"]),
    )
    def touch(self, person: int, credential: str, bound: str, app: str, number: int, chosen: int, act: str) -> None:
        async def work() -> None:
            caller, door = await self.caller(person, credential, bound), self.door(doors.ONE, number)
            everybodys = [one for kept in self.world.memories.values() for one in kept]
            memory_id = everybodys[chosen % len(everybodys)] if everybodys else str(uuid.uuid4())
            place = self.world.place_of(memory_id) or (caller.person, app)
            words = self.world.words(place if place[0] == caller.person else (caller.person, app))
            status = await doors.one(self.world, caller, app, door, act, memory_id, words)
            reached = self.world.place_of(memory_id) == (caller.person, place[1]) and caller.may(place[1])
            reached = reached and (door == "mem0" or (place[1] == app))
            assert (status == 200) == reached, (status, door, act, place, app, caller)
            if reached and act == "correct":
                self.world.memories[place][memory_id] = words
            if reached and act == "forget":
                del self.world.memories[place][memory_id]

        self.run(work())

    @rule(person=PERSON, credential=CREDENTIAL, bound=APP, app=APP, number=NUMBER, short=st.booleans())
    def forget_all(self, person: int, credential: str, bound: str, app: str, number: int, short: bool) -> None:  # noqa: FBT001 (what hypothesis draws)
        async def work() -> None:
            caller, door = await self.caller(person, credential, bound), self.door(doors.FORGET_ALL, number)
            own = self.world.memories[caller.person, app]
            short_now = short and bool(own) and door not in ("mem0", "gateway")
            status, forgotten = await doors.forget_all(self.world, caller, app, door, len(own) - short_now)
            if not caller.may(app):
                assert status >= 400 or not forgotten
            elif short_now:
                assert status >= 400, (status, forgotten)
            else:
                assert (status, forgotten) == (200, len(own)), door
                own.clear()

        self.run(work())

    @rule(person=PERSON, credential=CREDENTIAL, source=APP, reader=APP, stop=st.booleans())
    def share(self, person: int, credential: str, source: str, reader: str, stop: bool) -> None:  # noqa: FBT001
        if self.stage.platform is None:
            return

        async def work() -> None:
            caller = await self.caller(person, credential, reader)
            pair = {"source": f"app:{source}", "reader": f"app:{reader}"}
            own, method = self.world.shares[caller.person], "DELETE" if stop else "PUT"
            said: dict[str, Any] = {"params" if stop else "json": pair}
            status, _ = await self.world.ask(caller, method, _SHARES, platform=True, **said)
            may = caller.bound is None and not caller.impersonates
            there = (source, reader) in own
            assert (status == 200) == (may and (there if stop else source != reader)), (status, caller)
            if status == 200:
                (own.discard if stop else own.add)((source, reader))

        self.run(work())

    @rule(
        person=PERSON, credential=CREDENTIAL, bound=APP, app=APP, act=st.sampled_from(["put", "get", "types", "forget"])
    )
    def document(self, person: int, credential: str, bound: str, app: str, act: str) -> None:
        async def work() -> None:
            caller = await self.caller(person, credential, bound)
            place, path = (caller.person, app), f"/api/v1/apps/memory-data/{quoted(app)}"
            kept, method = self.world.documents[place], {"put": "PUT", "forget": "DELETE"}.get(act, "GET")
            words = self.world.words(place)
            more = {"json": {"data": {"said": words}}} if act == "put" else {}
            address = doors.url(path if act == "types" else f"{path}/Facts")
            status, said = await self.world.ask(caller, method, address, app=app, **more)
            if not caller.may(app):
                assert status == 403, said
                return
            assert status == (200 if act in ("put", "types") or kept else 404), said
            if act == "types":
                assert said["count"] == bool(kept)
            elif act == "put":
                kept.append(len(self.world.marks) - 1)
            elif act == "get" and kept:
                assert len(said["revisions"]) == len(kept)
            elif act == "forget":
                kept.clear()

        self.run(work())

    @rule(person=PERSON, credential=CREDENTIAL, bound=APP, act=st.sampled_from(["look", "save", "restore", "erase", "drop"]), number=NUMBER)  # fmt: skip
    def whole(self, person: int, credential: str, bound: str, act: str, number: int) -> None:
        async def work() -> None:
            caller = await self.caller(person, credential, bound)
            every = [(owner, one) for owner, saved in self.world.snapshots.items() for one in saved]
            owner, state = every[number % len(every)] if every else (caller.person, str(uuid.uuid4()))
            path = {"erase": "/api/memory", "look": "/api/memory/state", "save": "/api/memory/state"}.get(
                act, f"/api/memory/state/{state}"
            )
            method = {"look": "GET", "erase": "DELETE", "drop": "DELETE"}.get(act, "POST")
            status, said = await self.world.ask(caller, method, path, platform=True)
            if caller.bound is not None:
                assert status == 403, said
                return
            theirs = owner == caller.person and state in self.world.snapshots[owner]
            assert status == (200 if act in ("look", "save", "erase") or theirs else 404), (act, status, said)
            if status == 200:
                await self._changed(caller.person, act, state, said)

        self.run(work())

    async def _changed(self, person: str, act: str, state: str, said: dict[str, Any]) -> None:
        world = self.world
        if act == "save":
            memories = {app: dict(world.memories[person, app]) for app in APPS}
            documents = {app: list(world.documents[person, app]) for app in APPS}
            world.snapshots[person][said["id"]] = Snapshot(memories, documents, set(world.shares[person]))
        elif act == "drop":
            del world.snapshots[person][state]
        elif act in ("restore", "erase"):
            saved = world.snapshots[person][state] if act == "restore" else Snapshot({}, {}, set())
            for app in APPS:
                world.memories[person, app] = dict(saved.memories.get(app, {}))
                world.documents[person, app] = list(saved.documents.get(app, ()))
            if world.platform is not None:
                _, found = await world.ask(world.token(person), "GET", _SHARES, platform=True)
                pairs = {(one["source"][4:], one["reader"][4:]) for one in found["shares"]}
                assert pairs <= world.shares[person] | saved.shares
                world.shares[person] = pairs

    @rule(number=NUMBER, victim=PERSON, chosen=NUMBER, claims=st.booleans(), app=APP)
    def attack(self, number: int, victim: int, chosen: int, claims: bool, app: str) -> None:  # noqa: FBT001
        """A stranger, with ids of others, at any route there is: nothing is told, and (checked next) nothing changed."""

        async def work() -> None:
            self.stage.steps += 1
            world, (service, route) = self.world, self.stage.routes[number % len(self.stage.routes)]
            person = world.people[victim]
            url = route.url(app=quoted(app), kind="app", name=quoted(app), **self._stolen(person, chosen))
            if claims:
                url = url.update_query(user_id=person, userId=person, agent_id=f"app:{app}", count="9")
            said = (
                {**BODY, "user_id": person, "app_id": app, "filters": {"AND": [{"user_id": person}]}}
                if claims
                else BODY
            )
            memory = self._stolen(person, chosen)["memory_id"]
            said = {
                **said,
                "memory_id": f"mem_{memory.replace('-', '')}",
                "memories": [{"memory_id": memory, "text": "x"}],
            }
            await self._attack(world, service, route, url, said)

        self.run(work())

    async def _attack(self, world: World, service: Service, route: Route, url: Any, said: dict[str, Any]) -> None:
        stranger = Caller(world.stranger, world.token(world.stranger).headers)
        platform = service is self.stage.platform
        await world.ask(stranger, route.method, url, platform=platform, headers={**doors._ACCEPT}, json=said)
        named = {"X-On-Behalf-Of": world.people[0]}
        status, _ = await world.ask(stranger, route.method, url, platform=platform, headers=named, json=said)
        # The open paths look at no credential, and say nothing of anybody.
        assert status == 403 or route.template in OPEN_PATHS or str(route) in PAGE, str(route)

    def _stolen(self, person: str, chosen: int) -> dict[str, str]:
        def one(of: list[str]) -> str:
            return of[chosen % len(of)] if of else str(uuid.uuid4())

        return {
            "memory_id": one(list(self.world.everything(person))),
            "state_id": one(list(self.world.snapshots[person])),
            "key_id": one(self.world.keys[person]),
        }

    @rule(person=PERSON)
    def check(self, person: int) -> None:
        """What this one has is what the model says, whoever did what."""
        who = self.world.people[person]
        self.run(self.world.check(who))
        self.run(self.world.check_record(who))

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        for person in {person for person, _ in self.world.memories} | set(self.world.accesses):
            self.run(self.world.check(person))
            self.run(self.world.check_record(person))
        self.stage.calls += self.world.calls
