"""A turn is kept before its answer is over; and an answer ends well whatever becomes of that."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from tests.acceptance.chat.conftest import CHAT, user, words
from tests.chat_provider import Provider
from tests.contract.test_metrics import numbers
from tests.services import Service, bearer, start_runtime
from tests.waiting import until

DIET = "I am vegetarian and avoid gluten"
BODY = {"model": "m", "messages": [user(DIET)], "app_id": "app-1", "learn": "verbatim"}


@asynccontextmanager
async def told(service: Service, **more: Any) -> AsyncIterator[list[bytes]]:
    """The lines of a stream up to the one that says that it is over; the block runs at that moment."""
    async with service.client.post(CHAT, json={**BODY, "stream": True, **more}, headers=bearer("ana")) as response:
        assert response.status == 200
        lines = []
        async for line in response.content:
            lines.append(line)
            if b"[DONE]" in line:
                break
        yield lines


async def events(service: Service) -> list[Any]:
    return (await service.get("/api/v1/apps/memory-events", uid="ana"))[1]["events"]


async def test_a_turn_is_kept_before_its_stream_says_that_it_is_over(runtime: Service, provider: Provider) -> None:
    provider.stays_after_done = asyncio.Event()
    async with told(runtime) as lines:
        kept = await events(runtime)
        provider.stays_after_done.set()

    assert len(kept) == 1
    assert len([line for line in lines if line.startswith(b"data:")]) == len(provider.words) + 1
    await until(lambda: _learned(runtime))
    assert len(await events(runtime)) == 1, "once"


async def _learned(service: Service) -> bool:
    return await words(service) == [DIET]


async def test_a_turn_is_kept_before_a_whole_answer_is_given(runtime: Service) -> None:
    status, _ = await runtime.post(CHAT, json=BODY, uid="ana")

    assert status == 200
    assert len(await events(runtime)) == 1


async def test_what_was_said_is_kept_when_the_provider_breaks_off(runtime: Service, provider: Provider) -> None:
    provider.breaks_off_after = 1
    async with runtime.client.post(CHAT, json={**BODY, "stream": True}, headers=bearer("ana")) as response:
        said = await response.read()

    assert b"provider_failed" in said
    assert len(await events(runtime)) == 1


async def test_an_answer_ends_while_the_queue_says_nothing_and_the_turn_is_kept_late(
    runtime: Service, database: str
) -> None:
    connection = await asyncpg.connect(database)
    await connection.execute("SELECT pg_advisory_lock(hashtextextended('ana', 3))")  # as a slow acceptance would
    async with told(runtime):
        await connection.close()

    await until(lambda: _learned(runtime))
    found = await numbers(runtime)
    assert found[("runtime_memory_chat_late_total",)] == 1
    assert found[("runtime_memory_chat_left_out_total",)] == 0


async def test_an_answer_ends_well_when_the_queue_refuses_and_that_is_counted(
    chat_settings: pytest.MonkeyPatch, database: str
) -> None:
    chat_settings.setenv("RUNTIME_LEARN_WAITING", "1")
    runtime = await start_runtime(database)
    try:
        connection = await asyncpg.connect(database)
        await connection.execute(
            "INSERT INTO runtime_memory.events (id, user_id, agent_id, epoch, request, actor, door, available_at)"
            " VALUES ($1, 'ana', 'app:other', 0, '{}', 'ana', 'apps', now() + interval '1 day')",
            uuid.uuid4(),
        )
        await connection.close()
        async with told(runtime) as lines:
            assert b"[DONE]" in lines[-1]
        status, said = await runtime.post(CHAT, json=BODY, uid="ana")
        found = await numbers(runtime)
    finally:
        await runtime.client.close()

    assert (status, said["choices"][0]["message"]["content"]) == (200, "Hello, Ana")
    assert found[("runtime_memory_chat_left_out_total",)] == 2
    assert found[("runtime_memory_chat_late_total",)] == 0
