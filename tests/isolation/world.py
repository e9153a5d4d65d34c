"""The services under a random driver, and a tiny model of what each person has in each application.

Every text that is kept carries a marker that says whose it is; every answer is searched for markers of anybody else.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from shared.api_keys import digest_of, new_key
from shared.http.keys import API_KEYS
from shared.tokens import IMPERSONATE
from tests.chat_provider import Provider
from tests.services import Service, bearer

APPS = ("desk", "DESK", "desk_", "д%/✂")
_PEOPLE = ("ana", "ANA", "ana1", "ana%", "ana_", "ana" * 80, "👩‍👩‍👧", "מרים\u202e")
_MARK = re.compile(r"mk(\d+)q")
_TOPICS = ("likes tea", "reads reports on Mondays", "parks on level 2", "plays the cello")

Place = tuple[str, str]
"""A person and an application's uid."""


@dataclass(frozen=True)
class Caller:
    """A credential: whom it acts for, and the one application that it is bound to."""

    person: str
    headers: dict[str, str]
    bound: str | None = None
    impersonates: bool = False

    def may(self, app: str) -> bool:
        return self.bound in (None, app)


@dataclass
class Snapshot:
    """What a person had when it was saved."""

    memories: dict[str, dict[str, str]]
    documents: dict[str, list[int]]
    shares: set[tuple[str, str]]


@dataclass
class World:
    """One life of some people who have never been here before."""

    runtime: Service
    platform: Service | None
    provider: Provider
    number: int
    marks: list[Place] = field(default_factory=list)
    memories: dict[Place, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    documents: dict[Place, list[int]] = field(default_factory=lambda: defaultdict(list))
    shares: dict[str, set[tuple[str, str]]] = field(default_factory=lambda: defaultdict(set))
    snapshots: dict[str, dict[str, Snapshot]] = field(default_factory=lambda: defaultdict(dict))
    keys: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    accesses: Counter[str] = field(default_factory=Counter)
    ops_key: str = ""
    calls: int = 0

    @property
    def people(self) -> tuple[str, ...]:
        return tuple(f"{self.number}-{name}" for name in _PEOPLE)

    @property
    def stranger(self) -> str:
        """Who has nothing, and tries everything."""
        return f"{self.number}-nemo"

    @property
    def ops(self) -> str:
        """Whose key acts for everybody."""
        return f"{self.number}-ops"

    async def open(self) -> None:
        """Have the key that acts for everybody."""
        key, text = new_key(self.ops, "acts for all", application=None, scopes=frozenset({IMPERSONATE}))
        await self.runtime.client.app[API_KEYS].keep(key, digest_of(text))
        self.ops_key = text

    def words(self, place: Place) -> str:
        """New words of somebody."""
        self.marks.append(place)
        number = len(self.marks) - 1
        return f"mk{number}q {_TOPICS[number % len(_TOPICS)]}"

    def everything(self, person: str) -> dict[str, str]:
        """All that is remembered of a person, by id."""
        return {i: w for (who, _), kept in self.memories.items() if who == person for i, w in kept.items()}

    def place_of(self, memory_id: str) -> Place | None:
        return next((place for place, kept in self.memories.items() if memory_id in kept), None)

    def token(self, person: str) -> Caller:
        return Caller(person, bearer(person))

    def impersonating(self, person: str) -> Caller:
        return Caller(person, {"X-API-Key": self.ops_key, "X-On-Behalf-Of": person}, impersonates=True)

    async def key(self, person: str, bound: str | None) -> Caller:
        """A new key of a person's."""
        said = {"all_applications": True} if bound is None else {"application": f"app:{bound}"}
        status, view = await self.ask(self.token(person), "POST", "/api/v1/apps/api-keys", json=said)
        assert status == 201, view
        self.keys[person].append(view["id"])
        return Caller(person, {"Authorization": f"Token {view['key']}"}, bound)

    def visible(self, caller: Caller, app: str | None, *, sharing: bool = False) -> set[Place]:
        """The places that an answer may hold anything of."""
        if app is None:
            return {(caller.person, one) for one in APPS if caller.may(one)}
        lent = {source for source, reader in self.shares[caller.person] if reader == app} if sharing else set()
        return {(caller.person, one) for one in {app} | lent}

    async def ask(
        self,
        caller: Caller,
        method: str,
        path: Any,
        *,
        app: str | None = None,
        sharing: bool = False,
        platform: bool = False,
        headers: dict[str, str] | None = None,
        **more: Any,
    ) -> tuple[int, Any]:
        """One request; its answer holds nothing of anybody or anything that the caller does not reach."""
        service = self.platform if platform and self.platform is not None else self.runtime
        sent = {**caller.headers, **(headers or {})}
        # Not the test client's own request: that one keeps every answer, and a long run is to show what the services keep.
        asking = service.client.session.request(method, service.client.make_url(path), headers=sent, **more)
        async with asking as response:
            status, text = response.status, await response.text()
        said = read(text, status)
        # What a conversation put into the prompt was answered to the provider.
        text += "".join(body.decode() for body in self.provider.asked)
        self.provider.asked.clear()
        self.calls += 1
        allowed = self.visible(caller, app, sharing=sharing) if status < 400 else set()
        foreign = {self.marks[number] for number in marks_in(text)} - allowed
        assert not foreign, (method, str(path), status, caller.person, caller.bound, foreign)
        assert status < 500, (method, str(path), status, text[:200])
        if caller.impersonates and status < 400 and not _reached_nothing(said):
            self.accesses[caller.person] += 1
        return status, said

    async def check_record(self, person: str) -> None:
        """Every access in the person's name that succeeded stands in their record, and no other."""
        path = "/api/v1/apps/memory-access"
        _, said = await self.ask(self.token(person), "GET", path, params={"limit": 1000})
        assert {one["actor"] for one in said["access"]} <= {self.ops}
        # The runtime reads allowances from the platform in the caller's own name: that is recorded there, too.
        verbs = [one["verb"] for one in said["access"] if one["verb"] != "list_shares"]
        assert len(verbs) == self.accesses[person], (person, Counter(verbs), self.accesses[person])

    async def check(self, person: str) -> None:
        """What the services have of a person is what the model has."""
        for app in APPS:
            path = f"/api/v1/apps/memories/{quoted(app)}"
            status, said = await self.ask(self.token(person), "GET", path, app=app)
            assert status == 200
            found = {one["id"]: one["memory"] for one in said["memories"]}
            assert found == self.memories[person, app], (person, app)
            assert said["total"] == len(found)


def read(text: str, status: int) -> Any:
    """An answer; what Prometheus and browsers read is nothing here, and a refusal is JSON everywhere."""
    try:
        return json.loads(text)
    except ValueError:
        assert status < 400, text[:200]
        return {}


def quoted(app: str) -> str:
    """An application's uid in a path."""
    return "".join(f"%{byte:02X}" for byte in app.encode())


def marks_in(text: str) -> Iterable[int]:
    """Whose texts stand in an answer."""
    return {int(number) for number in _MARK.findall(text)}


def _reached_nothing(said: Any) -> bool:
    """An MCP answer that is a refusal: 200 by its protocol."""
    return (
        isinstance(said, dict) and said.get("jsonrpc") == "2.0" and ("error" in said or said["result"].get("isError"))
    )
