"""The graph of a person's memory, on both engines: what the memories name, through every change of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from runtime_svc.engine.entities import MODEL
from tests.acceptance.snapshots.life import APP, STATE, STATES, exported, learn
from tests.services import Service, runtime_on

pytestmark = [
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("spacy", MODEL)),
        reason="The extra `entities` is not installed: pip install 'runtime-memory[entities]'.",
    ),
    # The spaCy model is loaded anew by each service of a test.
    pytest.mark.timeout(300),
]

MET = "Alice met Bob in Berlin at Google"


@pytest.fixture(params=["postgres", "local"])
async def engine_service(
    request: pytest.FixtureRequest, settings_environment: pytest.MonkeyPatch, database: str, tmp_path: Path
) -> AsyncIterator[Service]:
    """A runtime that finds entities, on each engine."""
    settings_environment.setenv("RUNTIME_ENTITIES", "1")
    dsn = database if request.param == "postgres" else None
    async with runtime_on(settings_environment, dsn, tmp_path / "local") as service:
        yield service


async def graph(platform: Service, path: str = STATE, uid: str = "p1") -> tuple[set[str], set[tuple[str, ...]]]:
    """Nodes and relationships, by name."""
    status, said = await platform.get(path, uid=uid)
    assert status == 200
    return shown(said)


def shown(said: dict[str, Any]) -> tuple[set[str], set[tuple[str, ...]]]:
    names = {node["id"]: node["name"] for node in said["graphNodes"]}
    links = {tuple(sorted((names[one["source"]], names[one["target"]]))) for one in said["graphRelationships"]}
    return set(names.values()), links


async def test_the_graph_says_what_the_memories_name(runtime: Service, platform: Service) -> None:
    met = await learn(runtime, "a", MET)
    await learn(runtime, "b", "Alice likes tea")

    _, said = await platform.get(STATE, uid="p1")

    nodes = {(node["name"], node["agentRef"]) for node in said["graphNodes"]}
    assert nodes == {("Alice", "a"), ("Bob", "a"), ("Berlin", "a"), ("Google", "a"), ("Alice", "b")}
    assert len(said["graphRelationships"]) == 6
    assert {tuple(one["memories"]) for one in said["graphRelationships"]} == {(met,)}
    assert {one["type"] for one in said["graphRelationships"]} == {"MENTIONED_WITH"}
    assert await graph(platform, uid="p2") == (set(), set())
    _, one = await runtime.get(f"{APP}a/{met}", uid="p1")
    assert "named_entities" not in str(one)


async def test_it_follows_corrections_by_either_service_and_forgetting(runtime: Service, platform: Service) -> None:
    met = await learn(runtime, "a", MET)

    assert (await runtime.patch(f"{APP}a/{met}", json={"memory": "Vera met Bob"}, uid="p1"))[0] == 200
    assert await graph(platform) == ({"Vera", "Bob"}, {("Bob", "Vera")})
    if platform is not runtime:
        path = f"/api/runtimes/v1/memories/{met}"
        assert (await platform.patch(path, json={"memory": "Vera moved to Prague"}, uid="p1"))[0] == 200
        assert "Bob" not in (await graph(platform))[0]
        async with asyncio.timeout(60):
            while (await graph(platform))[0] != {"Vera", "Prague"}:
                await asyncio.sleep(0.2)
    assert (await runtime.delete(f"{APP}a/{met}", uid="p1"))[0] == 200
    assert await graph(platform) == (set(), set())


async def test_it_comes_back_with_a_restore_and_goes_with_an_export(runtime: Service, platform: Service) -> None:
    await learn(runtime, "a", MET)
    _, state = await platform.post(STATE, uid="p1")
    before = shown(state)
    whole = await exported(platform, state["id"])
    assert shown(whole) == before
    assert (await platform.delete("/api/memory", params={"snapshots": "true"}, uid="p1"))[0] == 200
    assert await graph(platform) == (set(), set())

    status, taken = await platform.post(STATES, json=whole, uid="p1")
    assert (status, taken["graphLeftOut"]) == (200, 0)
    status, restored = await platform.post(f"{STATE}/{state['id']}", uid="p1")

    assert status == 200
    assert restored["graphNodes"] == state["graphNodes"]
    assert restored["graphRelationships"] == state["graphRelationships"]
    now = (await platform.get(STATE, uid="p1"))[1]
    assert (now["id"], shown(now)) == (state["id"], before)


async def test_the_mem0_dialect_tells_relations_where_they_are_asked_for(runtime: Service, platform: Service) -> None:
    await learn(runtime, "a", "Alice met Bob")
    body = {"query": "who met whom", "filters": {"user_id": "p1"}, "threshold": 0}

    _, without = await runtime.post("/v2/memories/search/", json=body, uid="p1")
    _, found = await runtime.post("/v2/memories/search/", json={**body, "enable_graph": True}, uid="p1")

    assert "relations" not in without
    assert found["relations"] == [{"source": "Alice", "relationship": "MENTIONED_WITH", "target": "Bob"}]
