"""Two runtimes on one PostgreSQL share the queue: each learn once, in the order of its scope."""

from __future__ import annotations

import itertools
import json
import re
from datetime import datetime
from typing import Any

import pytest

from shared.db.pool import Database
from tests.openai_server import OpenAIServer, memory
from tests.services import Service, start_runtime
from tests.waiting import until

SCOPES, EACH = 20, 10
_MARK = re.compile(r"number (\d+) of (p\d+)\.")


def echo(body: dict[str, Any]) -> str:
    number, person = _MARK.search(body["messages"][-1]["content"].split("## New Messages")[1]).groups()
    return memory(f"Fact {number} of {person}")


async def accept(service: Service, person: str, number: int) -> str:
    said = {"messages": [{"role": "user", "content": f"This is number {number} of {person}."}]}
    status, told = await service.post("/api/v1/apps/memories/one", json=said, uid=person)
    assert status == 202, told
    return told["event_id"]


async def all_events(service: Service, person: str) -> list[dict[str, Any]]:
    _, told = await service.get("/api/v1/apps/memory-events?limit=100", uid=person)
    return told["events"][::-1]


@pytest.mark.timeout(300)
async def test_two_hundred_learns_of_twenty_people_are_each_done_once_and_in_order(
    settings_environment: pytest.MonkeyPatch, database: str, server: OpenAIServer
) -> None:
    settings_environment.setenv("AGENT_RUNTIMES_MEM0_CONFIG_JSON", json.dumps({"llm": server.llm()}))
    server.answer, server.pause = echo, 0.01
    runtimes = [await start_runtime(database), await start_runtime(database)]
    people = [f"p{n}" for n in range(SCOPES)]
    accepted: dict[str, list[str]] = {person: [] for person in people}
    for number, person in itertools.product(range(EACH), people):
        accepted[person].append(await accept(runtimes[number % 2], person, number))

    waiting = set(people)

    async def all_ended() -> bool:
        for person in list(waiting):
            events = await all_events(runtimes[0], person)
            if all(event["status"] in ("SUCCEEDED", "FAILED") for event in events):
                waiting.discard(person)
        return not waiting

    await until(all_ended, within=200)
    for person in people:
        events = await all_events(runtimes[1], person)
        assert [event["id"] for event in events] == accepted[person]
        assert {event["status"] for event in events} == {"SUCCEEDED"}
        assert [len(event["results"]) for event in events] == [1] * EACH
        _, told = await runtimes[0].get("/api/v1/apps/memories/one", uid=person)
        assert [one["memory"] for one in told["memories"]] == [f"Fact {n} of {person}" for n in range(EACH)][::-1]
        for before, after in itertools.pairwise(events):
            assert datetime.fromisoformat(before["completed_at"]) <= datetime.fromisoformat(after["started_at"])
    asked = [
        _MARK.search(body["messages"][-1]["content"].split("## New Messages")[1]).groups() for body in server.requests
    ]
    assert len(asked) == len(set(asked)) == SCOPES * EACH
    for person in people:
        assert [int(number) for number, who in asked if who == person] == list(range(EACH))
    for runtime in runtimes:
        await runtime.client.close()


async def test_a_runtime_takes_over_what_another_left_behind(
    settings_environment: pytest.MonkeyPatch, database: str, server: OpenAIServer
) -> None:
    settings_environment.setenv("AGENT_RUNTIMES_MEM0_CONFIG_JSON", json.dumps({"llm": server.llm()}))
    server.answer = memory("Likes tea")
    await (await start_runtime(database)).client.close()
    pool = Database(database)
    await pool.open()
    async with pool.connection("ana") as connection:  # as a runtime that was killed leaves it
        await connection.execute(
            "INSERT INTO runtime_memory.events (id, user_id, agent_id, status, epoch, request, actor, door, extracts,"
            " attempts, lease_until, worker, started_at) VALUES (gen_random_uuid(), 'ana', 'app:one', 'RUNNING', 0, $1,"
            " 'ana', 'apps', true, 1, now() - interval '1 second', 'gone', now())",
            {
                "memory": None,
                "messages": [{"role": "user", "content": "I like tea", "name": None, "at": None}],
                "run_id": None,
                "metadata": {},
                "expiration_date": None,
                "learned_at": None,
                "infer": True,
                "instructions": None,
                "inner_agent": None,
                "categories": [],
                "immutable": False,
            },
        )

    runtime = await start_runtime(database)

    async def ended() -> bool:
        [event] = await all_events(runtime, "ana")
        return event["completed_at"] is not None

    await until(ended)
    [event] = await all_events(runtime, "ana")
    assert event["status"] == "SUCCEEDED"
    _, told = await runtime.get("/api/v1/apps/memories/one", uid="ana")
    assert [one["memory"] for one in told["memories"]] == ["Likes tea"]
    await pool.close()
    await runtime.client.close()
