"""A learn that this version cannot read keeps no other from being learned."""

from __future__ import annotations

import asyncio
import uuid

import asyncpg

from tests.services import Service

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
    finally:
        await connection.close()
    await asyncio.sleep(3)  # each lane meets one at each look

    status, told = await runtime.post(PATH, json={"memory": "Likes tea"})
    assert status == 202
    async with asyncio.timeout(20):
        while True:
            _, event = await runtime.get(f"/api/v1/apps/memory-events/{told['event_id']}")
            if event["event"]["status"] == "SUCCEEDED":
                break
            await asyncio.sleep(0.1)
