"""A learn that this version cannot read keeps no other from being learned."""

from __future__ import annotations

import uuid

import asyncpg

from runtime_svc.keys import LEARNING
from tests.services import Service
from tests.waiting import until

PATH = "/api/v1/apps/memories/one"


async def test_learns_of_a_newer_version_stand_in_nobodys_way(runtime: Service, database: str) -> None:
    connection = await asyncpg.connect(database)
    try:
        for person in ("p1", "p2", "p3", "p4"):
            await connection.execute(
                "INSERT INTO runtime_memory.events (id, user_id, agent_id, epoch, request, actor, door)"
                " VALUES ($1, $2, 'app:one', 0, '{}', $2, 'telepathy')",
                uuid.uuid4(),
                person,
            )

        async def all_were_met() -> bool:
            runtime.client.server.app[LEARNING].ring()
            return await connection.fetchval("SELECT min(attempts) >= 1 FROM runtime_memory.events")

        await until(all_were_met)
    finally:
        await connection.close()

    status, told = await runtime.post(PATH, json={"memory": "Likes tea"})
    assert status == 202

    async def learned() -> bool:
        _, event = await runtime.get(f"/api/v1/apps/memory-events/{told['event_id']}")
        return event["event"]["status"] == "SUCCEEDED"

    await until(learned)
