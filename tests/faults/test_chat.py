"""What a conversation teaches outlives the process that passed it, on both stores."""

from __future__ import annotations

import asyncio
from pathlib import Path

import aiohttp
import pytest

from tests.chat_provider import chat_provider
from tests.faults.alone import keeping, runtime
from tests.services import bearer

CHAT = "/api/v1/llm/gateway/chat/completions"
NATIVE = "/api/v1/apps/memories/desk"
DIET = "I am vegetarian and avoid gluten"


@pytest.mark.fault("kill -9 of a runtime as a conversation's answer says that it is over", "what the turn teaches is learned, once")  # fmt: skip
@pytest.mark.timeout(180)
async def test_a_kill_at_the_end_of_an_answer_loses_nothing_of_the_turn(dsn: str | None, tmp_path: Path) -> None:
    async with chat_provider() as provider, aiohttp.ClientSession(headers=bearer("ana")) as session:
        provider.stays_after_done = asyncio.Event()
        settings = {**keeping(dsn, tmp_path / "kept"), "MEMORY_CHAT_BASE_URL": provider.url}
        async with runtime(settings, tmp_path / "log") as (process, address):
            said = {"model": "m", "messages": [{"role": "user", "content": DIET}], "stream": True}
            asked = {**said, "app_id": "desk", "learn": "verbatim"}
            async with session.post(address + CHAT, json=asked) as response:
                async for line in response.content:
                    if b"[DONE]" in line:
                        break
                process.kill()
                await process.wait()
        provider.stays_after_done.set()
        async with runtime(settings, tmp_path / "log") as (_, address), asyncio.timeout(60):
            words: list[str] = []
            while not words:
                async with session.get(address + NATIVE) as response:
                    words = [one["memory"] for one in (await response.json())["memories"]]
                await asyncio.sleep(0.1)

    assert words == [DIET]
