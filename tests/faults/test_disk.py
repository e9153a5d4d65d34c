"""PostgreSQL without room on its disk: what needs room is refused, everything else is served, and room mends it."""

from __future__ import annotations

import resource
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import asyncpg
import pytest

from shared.db.embedded import embedded
from tests.services import Service, start_runtime

APP = "/api/v1/apps/memories/desk"
ROOM = 17 * 1024**2
"""Bytes of the longest file: more than a segment of the write-ahead log, so that the memory table meets it first."""


@contextmanager
def no_longer_files() -> Iterator[None]:
    """What is started meanwhile keeps the limit."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
async def small_disk(settings_environment: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """A server of its own, whose files cannot grow beyond `ROOM`."""
    with tempfile.TemporaryDirectory(prefix="rm-disk-") as name:
        Path(name).chmod(0o755)
        async with AsyncExitStack() as held:
            with no_longer_files():
                server = await held.enter_async_context(embedded(Path(name) / "pg", durable=False))
            yield server.dsn


@pytest.fixture
async def small_runtime(small_disk: str) -> AsyncIterator[Service]:
    runtime = await start_runtime(small_disk)
    yield runtime
    await runtime.client.close()


@pytest.fixture
async def admin(small_runtime: Service, small_disk: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(small_disk)
    yield connection
    await connection.close()


async def fill(connection: asyncpg.Connection) -> None:
    """Somebody else's rows take what room there is."""
    await connection.execute("ALTER TABLE public.agent_memories ALTER COLUMN payload SET STORAGE PLAIN")
    more = (
        "INSERT INTO public.agent_memories (id, payload) SELECT gen_random_uuid(),"
        " jsonb_build_object('user_id', 'other', 'agent_id', 'app:other', 'filler', repeat('x', $1))"
        " FROM generate_series(1, $2::int)"
    )
    for length, count in ((7000, 1000), (7000, 100), (7000, 10), (7000, 1), (900, 1)):
        try:
            while True:
                await connection.execute(more, length, count)
        except asyncpg.PostgresError as error:
            assert "could not extend file" in str(error)  # noqa: PT017 (the end of the loop, and why)


@pytest.mark.fault("The disk of PostgreSQL is full", "503 for what needs room, and nothing of it half written; the rest is served; learning goes on when there is room")  # fmt: skip
async def test_a_database_without_room_refuses_what_needs_room_and_nothing_else(
    small_runtime: Service, admin: asyncpg.Connection
) -> None:
    runtime = small_runtime
    status, said = await runtime.post(APP, json={"memory": "likes tea", "wait": True}, uid="ana")
    assert status == 200
    await fill(admin)

    for _ in range(5):
        status, told = await runtime.post(APP, json={"memory": "x" * 2000, "wait": True}, uid="ana")
        assert (status, told["code"]) == (503, "unavailable")
    _, listed = await runtime.get(APP, uid="ana")
    assert [one["memory"] for one in listed["memories"]] == ["likes tea"]
    assert (await runtime.get("/readyz", uid=None))[0] == 200
    assert (await runtime.delete(f"{APP}/{said['results'][0]['id']}", uid="ana"))[0] == 200

    await admin.execute("DELETE FROM public.agent_memories WHERE user_id = 'other'")
    await admin.execute("VACUUM public.agent_memories")
    status, _ = await runtime.post(APP, json={"memory": "x" * 2000, "wait": True}, uid="ana")
    assert status == 200
    assert (await runtime.get(APP, uid="ana"))[1]["total"] == 1
