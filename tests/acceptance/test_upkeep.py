"""What the platform corrected is found by its new meaning once a runtime has learned it again."""

from __future__ import annotations

import asyncio

import pytest

from tests.acceptance.test_first_slice import APP, PLATFORM, learn
from tests.services import Service


@pytest.mark.field("B88")
async def test_words_corrected_on_the_platform_are_found_by_their_new_meaning(
    runtime: Service, platform: Service
) -> None:
    [first, _] = await learn(runtime, "Parks on level 2 of the garage", "Meetings are on Tuesdays")

    status, said = await platform.patch(f"{PLATFORM}/{first}", json={"memory": "Is vegetarian and avoids gluten"})
    assert status == 200
    learned_at = said["memory"]["updated_at"]
    async with asyncio.timeout(60):
        while True:
            _, found = await runtime.post(f"{APP}/search", json={"query": "dietary preferences"})
            if found["memories"][0]["id"] == first and found["memories"][0]["score"] > 0.15:
                break
            await asyncio.sleep(0.2)

    _, one = await runtime.get(f"{APP}/{first}")
    assert one["memory"]["updated_at"] == learned_at
    assert one["memory"]["corrected_by"] == "owner-1"
