"""PostgreSQL slow, away, or asked for by too many: a clear refusal in a bounded time, and all is well afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from tests.faults.proxy import Wire
from tests.services import Service, bearer
from tests.waiting import FOR_EVER, until

APP = "/api/v1/apps/memories/desk"
PLATFORM = "/api/runtimes/v1/memories"
LISTS = (APP, PLATFORM)


async def keep(runtime: Service, words: str) -> None:
    """Whatever the services' patience: one that waits a second only may refuse while the machine is busy."""
    headers, said = {"Idempotency-Key": words}, {"memory": words, "wait": True}

    async def kept() -> bool:
        return (await runtime.post(APP, json=said, headers=headers, uid="ana"))[0] == 200

    await until(kept)


async def lists(services: list[Service]) -> list[int]:
    return [(await service.get(path, uid="ana"))[0] for service, path in zip(services, LISTS, strict=True)]


async def until_served(services: list[Service]) -> None:
    async def served() -> bool:
        return await lists(services) == [200, 200]

    await until(served)


@asynccontextmanager
async def locked(dsn: str) -> AsyncIterator[None]:
    """The memory table held by somebody else: every statement on it waits."""
    connection = await asyncpg.connect(dsn)
    async with connection.transaction():
        await connection.execute("LOCK TABLE public.agent_memories IN ACCESS EXCLUSIVE MODE")
        yield
    await connection.close()


@pytest.mark.fault("The database is away, and comes back", "503 in a sentence while it is away; then all is served, and nothing acknowledged is lost")  # fmt: skip
async def test_while_the_database_is_away_requests_are_refused_and_afterwards_served(
    wired: list[Service], line: Wire
) -> None:
    await keep(wired[0], "likes tea")
    await line.cut()

    for service, path in zip(wired, LISTS, strict=True):
        status, said = await service.get(path, uid="ana")
        assert (status, said["code"]) == (503, "unavailable")
        assert (await service.get("/readyz", uid=None))[0] == 503
        assert (await service.get("/healthz", uid=None))[0] == 200
        assert "postgres" not in said["detail"].lower()
    assert (await wired[0].post(APP, json={"memory": "lost", "wait": True}, uid="ana"))[0] == 503

    await line.mend()
    await until_served(wired)
    assert [one["memory"] for one in (await wired[0].get(APP, uid="ana"))[1]["memories"]] == ["likes tea"]
    assert (await wired[0].get("/readyz", uid=None))[0] == 200


@pytest.mark.fault("The connections to the database are ended by the server", "at most one request a connection fails; the next opens a new one")  # fmt: skip
@pytest.mark.field("B67")
async def test_connections_that_the_server_ended_are_replaced(wired: list[Service], database: str) -> None:
    await keep(wired[0], "likes tea")
    assert await lists(wired) == [200, 200]
    admin = await asyncpg.connect(database)
    ended = await admin.fetchval(
        "SELECT array_agg(pid) FROM (SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND datname = current_database()) AS ended"
    )
    while await admin.fetchval("SELECT count(*) FROM pg_stat_activity WHERE pid = ANY($1)", ended):
        await asyncio.sleep(0.01)
    await admin.close()
    assert len(ended) >= 2

    for service, path in zip(wired, LISTS, strict=True):
        found = [(await service.get(path, uid="ana"))[0] for _ in range(6)]
        assert found[2:] == [200] * 4, "two connections were ended: two requests may fail, at most"


@pytest.mark.fault("A statement takes longer than MEMORY_STATEMENT_TIMEOUT", "503 with Retry-After when its time is over; the connection is not lost")  # fmt: skip
async def test_a_statement_that_takes_too_long_is_given_up_and_the_next_is_served(
    impatient: None, wired: list[Service], database: str
) -> None:
    await keep(wired[0], "likes tea")
    async with locked(database):
        for service, path in zip(wired, LISTS, strict=True):
            async with asyncio.timeout(FOR_EVER):
                status, _ = await service.get(path, uid="ana")
            assert status == 503
        async with wired[0].client.get(APP, headers=bearer("ana")) as refused:
            assert (refused.status, refused.headers["Retry-After"]) == (503, "1")
        assert (await wired[0].get("/healthz", uid=None))[0] == 200

    await until_served(wired)


@pytest.mark.fault("The network to the database swallows everything", "503 in a bounded time; then new connections")
async def test_a_database_that_says_nothing_is_given_up_in_a_bounded_time(
    impatient: None, wired: list[Service], line: Wire
) -> None:
    await keep(wired[0], "likes tea")
    line.hold()
    async with asyncio.timeout(FOR_EVER):
        assert await lists(wired) == [503, 503]

    line.let_go()
    await until_served(wired)


@pytest.mark.fault("Every connection of the pool is in use", "503 with Retry-After within the time to acquire; then all is served")  # fmt: skip
@pytest.mark.field("B68")
async def test_more_requests_than_connections_are_answered_in_a_bounded_time(
    hurried: None, wired: list[Service], database: str
) -> None:
    async def ask() -> tuple[int, Any]:
        return await wired[0].get(APP, uid="ana")

    async def ask_until_answered() -> None:
        while (await ask())[0] != 200:
            pass

    await keep(wired[0], "likes tea")
    async with locked(database):
        asking = [asyncio.create_task(ask()) for _ in range(8)]
        await until(lambda: sum(one.done() for one in asking) >= 6)
    answers = await asyncio.gather(*asking)
    refusals = [said["detail"] for status, said in answers if status == 503]
    assert len(refusals) >= 6
    assert {status for status, _ in answers} <= {200, 503}
    assert all("too many at once" in sentence for sentence in refusals)

    async with asyncio.timeout(FOR_EVER), asyncio.TaskGroup() as group:
        for _ in range(50):
            group.create_task(ask_until_answered())


@pytest.mark.fault("Hundreds of searches that find nothing, with two connections", "each gives its connection back")
@pytest.mark.field("B71")
async def test_searches_that_find_nothing_leak_no_connection(wired: list[Service], database: str) -> None:
    runtime = wired[0]
    for n in range(250):
        assert (await runtime.get(APP, uid="nobody"))[1]["memories"] == []
        if n % 5 == 0:
            assert (await runtime.post(f"{APP}/search", json={"query": "x"}, uid="nobody"))[1]["memories"] == []
            assert (await runtime.get(f"{APP}/{'0' * 8}-0000-4000-8000-{'0' * 12}", uid="nobody"))[0] == 404

    connection = await asyncpg.connect(database)
    idle = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'"
    assert await connection.fetchval(idle) == 0
    await connection.close()
    assert (await runtime.get(APP, uid="nobody"))[0] == 200
