"""A learn that this version cannot read keeps no other from being learned, on both stores."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from shared.http.keys import STORE
from tests.services import Service, start_runtime
from tests.waiting import until

PATH = "/api/v1/apps/memories/one"
PEOPLE = [f"p{number}" for number in range(12)]


@pytest.fixture(params=["postgres", "local"])
async def service(
    request: pytest.FixtureRequest, settings_environment: pytest.MonkeyPatch, database: str, tmp_path: Path
) -> AsyncIterator[tuple[Service, str | None]]:
    """A runtime on each store in turn, and where its PostgreSQL is."""
    dsn = database if request.param == "postgres" else None
    if dsn is None:
        settings_environment.setenv("AGENT_RUNTIMES_MEM0_BACKEND", "faiss")
        settings_environment.setenv("AGENT_RUNTIMES_MEM0_DIR", str(tmp_path / "local"))
    found = await start_runtime(dsn)
    yield found, dsn
    await found.client.close()


async def accepted_by_a_newer_version(runtime: Service, dsn: str | None) -> None:
    """Learns through a door that this version does not know."""
    if dsn is None:
        at = "2026-01-01T00:00:00.000000+00:00"

        def insert(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "INSERT INTO events (id, user_id, agent_id, epoch, actor, door, extracts, created_at, available_at)"
                " VALUES (?, ?, 'app:one', 0, ?, 'telepathy', 0, ?, ?)",
                [(str(uuid.uuid4()), person, person, at, at) for person in PEOPLE],
            )

        await runtime.client.app[STORE].database.write(insert)
        return
    connection = await asyncpg.connect(dsn)
    await connection.executemany(
        "INSERT INTO runtime_memory.events (id, user_id, agent_id, epoch, request, actor, door)"
        " VALUES ($1, $2, 'app:one', 0, '{}', $2, 'telepathy')",
        [(uuid.uuid4(), person) for person in PEOPLE],
    )
    await connection.close()


async def test_learns_of_a_newer_version_stand_in_nobodys_way(service: tuple[Service, str | None]) -> None:
    runtime, dsn = service
    await accepted_by_a_newer_version(runtime, dsn)
    status, told = await runtime.post(PATH, json={"memory": "Likes tea"})
    assert status == 202

    async def learned() -> bool:
        _, event = await runtime.get(f"/api/v1/apps/memory-events/{told['event_id']}")
        return bool(event["event"]["status"] == "SUCCEEDED")

    await until(learned)
