"""What one process forgot is forgotten in every other, in what is derived too, and nothing brings it back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from tests.acceptance.mem0_key import program
from tests.services import Service, runtime_on, start_runtime
from tests.waiting import FOR_EVER

APP = "/api/v1/apps/memories/desk"


@pytest.fixture
async def another(runtime: Service, database: str) -> AsyncIterator[Service]:
    """A second runtime on the same database, that has learned nothing."""
    service = await start_runtime(database)
    yield service
    await service.client.close()


async def places_of(database: str, memory_id: str) -> list[str]:
    """The tables in which an id stands anywhere."""
    connection = await asyncpg.connect(database)
    try:
        tables = await connection.fetch(
            "SELECT schemaname || '.' || tablename AS name FROM pg_tables"
            " WHERE schemaname IN ('public', 'runtime_memory')"
        )
        sql = "SELECT EXISTS (SELECT FROM {} AS t WHERE t::text LIKE '%' || $1 || '%')"
        names = sorted(table["name"] for table in tables)
        return [name for name in names if await connection.fetchval(sql.format(name), memory_id)]
    finally:
        await connection.close()


@pytest.mark.field("B53")
async def test_a_process_that_only_forgets_leaves_no_link_to_what_it_forgot(
    runtime: Service, another: Service, database: str
) -> None:
    ana, elsewhere = await program(runtime), await program(another)
    tea = await ana.add("Ada Lovelace likes tea", agent_id="ada", run_id="r1", app_id="desk")
    await ana.add("Likes jam", app_id="desk")
    await ana.search("Ada Lovelace", {"app_id": "desk"})
    assert await places_of(database, tea["id"]) == ["public.agent_memories", "runtime_memory.history"]

    await elsewhere.call("DELETE", f"/v1/memories/{tea['id']}/")

    assert await places_of(database, tea["id"]) == []
    for one in (ana, elsewhere):
        assert await one.search("Ada Lovelace", {"app_id": "desk"}, threshold=0) == ["Likes jam"]
        entities = (await one.call("GET", "/v1/entities/"))["results"]
        assert {(e["type"], e["name"], e["total_memories"]) for e in entities} == {
            ("user", "ana", 1),
            ("app", "desk", 1),
        }


@pytest.fixture(params=["postgres", "local"])
def dsn(request: pytest.FixtureRequest) -> str | None:
    """Each store in turn; None for the local one."""
    return request.getfixturevalue("database") if request.param == "postgres" else None


@pytest.fixture
async def either(settings_environment: pytest.MonkeyPatch, dsn: str | None, tmp_path: Path) -> AsyncIterator[Service]:
    async with runtime_on(settings_environment, dsn, tmp_path / "store") as service:
        yield service


async def learned(service: Service, words: str) -> str:
    """Through the queue, as it is without `wait`."""
    _, told = await service.post(APP, json={"memory": words})
    async with asyncio.timeout(FOR_EVER):
        while True:
            _, said = await service.get(f"/api/v1/apps/memory-events/{told['event_id']}")
            event: dict[str, Any] = said["event"]
            if event["status"] == "SUCCEEDED":
                return str(event["results"][0]["id"])
            await asyncio.sleep(0.02)


@pytest.mark.field("B55")
async def test_what_was_forgotten_stays_so_when_more_is_learned(either: Service) -> None:
    gone = await learned(either, "Parks on level 2 of the garage")
    kept = await learned(either, "Meetings are on Tuesdays")
    question = {"query": "Where is the car parked?"}
    assert (await either.post(f"{APP}/recall", json=question))[1]["memories"][0]["id"] == gone

    await either.delete(f"{APP}/{gone}")
    await learned(either, "Reads in French")
    await either.patch(f"{APP}/{kept}", json={"memory": "Meetings are on Wednesdays"})

    _, recalled = await either.post(f"{APP}/recall", json=question)
    _, said = await either.post("/api/v1/apps/tools/desk/search_memory", json=question)
    assert gone not in [one["id"] for one in recalled["memories"]]
    assert "level 2" not in recalled["context"] + said["text"]
    again = await learned(either, "Parks on level 2 of the garage")
    assert again != gone
    assert (await either.get(f"{APP}/{again}/history"))[1]["history"][0]["event"] == "ADD"
