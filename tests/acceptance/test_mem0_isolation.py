"""Two keys, two owners: whatever is sent to any route of the Mem0 dialect, neither reads nor changes the other's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime_svc.app import create_app
from runtime_svc.mem0_dialect.routes import ROUTES
from runtime_svc.settings import RuntimeSettings
from tests.acceptance.mem0_key import Program, program
from tests.services import Service, environment

SECRET_WORDS = "zanzibar"
NAMES = ["ana", "ben", "*", "bot", "shop", "r1", "a' OR 1=1 --"]


class Two:
    """A runtime, whose ben attacks, and whose ana has what he must not see."""

    def __init__(self, runner: asyncio.Runner, service: Service) -> None:
        self.runner = runner
        self.service = service
        self.ana: Program = runner.run(program(service, "ana"))
        self.ben: Program = runner.run(program(service, "ben"))
        self.item: dict[str, Any] = runner.run(
            self.ana.add(f"the word is {SECRET_WORDS}", agent_id=None, app_id="shop", run_id="r1", metadata={"k": "v"})
        )
        self.before = runner.run(self.state())

    async def state(self) -> Any:
        return await self.ana.call(
            "POST", "/v3/memories/", json={"filters": {"OR": [{"user_id": "*"}, {"agent_id": "*"}]}}
        )

    async def attack(self, method: str, path: str, query: dict[str, str], said: Any) -> tuple[int, str]:
        headers = {"Authorization": f"Token {self.ben.key}"}
        async with self.service.client.request(method, path, params=query, json=said, headers=headers) as response:
            return response.status, await response.text()


@pytest.fixture(scope="module", params=["postgres", "local"])
def two(request: pytest.FixtureRequest, prepared_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    with pytest.MonkeyPatch.context() as patch, asyncio.Runner() as runner:
        for name, value in environment(RUNTIME_SHARES="off").items():
            patch.setenv(name, value)
        if request.param == "local":
            patch.setenv("AGENT_RUNTIMES_MEM0_BACKEND", "faiss")
            patch.setenv("AGENT_RUNTIMES_MEM0_DIR", str(tmp_path_factory.mktemp("local") / "store"))
        app = create_app(RuntimeSettings.read(), dsn=prepared_dsn if request.param == "postgres" else None)

        async def start() -> Service:
            client = TestClient(TestServer(app))
            await client.start_server()
            return Service(client)

        service = runner.run(start())
        yield Two(runner, service)
        runner.run(service.client.close())


names = st.sampled_from(NAMES)
ids = st.one_of(
    names, st.fixed_dictionaries({}, optional={"ne": names, "in": st.lists(names, max_size=2), "eq": names})
)
entity = st.sampled_from(["user_id", "agent_id", "app_id", "run_id", "userId"])
conditions = st.one_of(
    st.dictionaries(entity, ids, min_size=1, max_size=2),
    st.just({"metadata": {"k": {"ne": "w"}}}),
    st.just({"keywords": {"icontains": SECRET_WORDS[:4]}}),
    st.just({"memory_ids": "THEIRS"}),
    st.just({"created_at": {"gte": "2000-01-01"}}),
)
filters = st.recursive(
    conditions,
    lambda inner: st.one_of(
        st.builds(lambda some: {"AND": some}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda some: {"OR": some}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda one: {"NOT": one}, inner),
    ),
    max_leaves=6,
)
said = st.fixed_dictionaries(
    {},
    optional={
        "query": st.just("what is the word"),
        "messages": st.just("his own"),
        "infer": st.sampled_from([False]),
        "text": st.just("changed"),
        "filters": filters,
        "user_id": names,
        "agent_id": names,
        "app_id": names,
        "run_id": names,
        "memory_id": st.just("THEIRS"),
        "memories": st.just([{"memory_id": "THEIRS", "text": "changed"}]),
        "schema": st.just({"properties": {"all": {"type": "array"}}}),
        "feedback": st.just("POSITIVE"),
        "metadata": st.just({"user_id": "ana", "k": "v"}),
        "top_k": st.just(1000),
        "show_expired": st.booleans(),
        "url": st.just("https://example.com/"),
        "event_types": st.just(["memory_add"]),
    },
)
query = st.dictionaries(
    st.sampled_from(["user_id", "agent_id", "app_id", "run_id", "page", "page_size"]), names | st.just("1"), max_size=2
)
routes = st.sampled_from([(route.method, route.path) for route in ROUTES])
parts = {
    "kind": st.sampled_from(["user", "agent", "app", "run"]),
    "name": names,
    "organization": st.just("runtime-memory"),
    "project": names,
}


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(route=routes, query=query, said=said, data=st.data())
def test_whatever_one_sends_the_others_stay_unseen_and_unchanged(
    two: Two, route: tuple[str, str], query: dict[str, str], said: dict[str, Any], data: st.DataObject
) -> None:
    method, template = route
    path = template.replace("{name:.+?}", "{name}")
    for part, drawn in parts.items():
        if f"{{{part}}}" in path:
            path = path.replace(f"{{{part}}}", data.draw(drawn, part))
    for part in ("memory_id", "event_id", "webhook_id"):
        path = path.replace(f"{{{part}}}", two.item["id"])
    aimed = json.loads(json.dumps(said).replace("THEIRS", two.item["id"]))

    status, text = two.runner.run(two.attack(method, path, query, aimed))

    assert status < 500, (method, path, status)
    assert SECRET_WORDS not in text
    assert two.runner.run(two.state()) == two.before
