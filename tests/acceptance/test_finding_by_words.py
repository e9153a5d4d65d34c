"""Without a runtime the platform finds a person's memories by their words: `GET …/memories?q=`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.services import Service

MEMORIES = "/api/runtimes/v1/memories"


async def learn(runtime: Service, app: str, *facts: str, uid: str = "ana", **more: Any) -> list[str]:
    ids = []
    for fact in facts:
        body = {"memory": fact, "wait": True, **more}
        status, said = await runtime.post(f"/api/v1/apps/memories/{app}", json=body, uid=uid)
        assert status == 200, said
        ids.append(said["results"][0]["id"])
    return ids


async def found(platform: Service, q: str, uid: str = "ana", **more: Any) -> list[str]:
    status, said = await platform.get(MEMORIES, params={"q": q, **more}, uid=uid)
    assert status == 200, said
    assert said["count"] == len(said["memories"])
    return [memory["memory"] for memory in said["memories"]]


async def test_the_best_by_words_comes_first_in_all_forms_of_a_word(runtime: Service, platform: Service) -> None:
    await learn(runtime, "diary", "Parks the car on level 2", "Meetings are on Tuesdays", "Parking costs 3 euros a day")

    assert await found(platform, "parking on level 2") == ["Parks the car on level 2", "Parking costs 3 euros a day"]
    assert await found(platform, "MEETING") == ["Meetings are on Tuesdays"]
    assert await found(platform, "garage") == []


async def test_it_finds_while_one_still_types(runtime: Service, platform: Service) -> None:
    await learn(runtime, "diary", "I am vegetarian and avoid gluten", "Übt Klavier", "Likes tea")
    await learn(runtime, "diary", "Vegetables of Bob", uid="bob")

    for typed in ("veg", "vegetar", "glu", "avoid glut", "VEGETARIAN GL"):
        assert await found(platform, typed) == ["I am vegetarian and avoid gluten"], typed
    assert await found(platform, "üb kla") == ["Übt Klavier"]
    assert await found(platform, "egetarian") == []
    assert await found(platform, "veg tea") == ["Likes tea"]


async def test_it_stays_within_the_person_and_the_application(runtime: Service, platform: Service) -> None:
    await learn(runtime, "diary", "Likes tea")
    await learn(runtime, "travel", "Likes tea on trains")
    await learn(runtime, "diary", "Bob likes tea", uid="bob")

    assert sorted(await found(platform, "tea")) == ["Likes tea", "Likes tea on trains"]
    assert await found(platform, "tea", agent_id="app:travel") == ["Likes tea on trains"]
    assert (await platform.get(MEMORIES, params={"q": "tea", "user_id": "bob"}, uid="ana"))[0] in (403, 422)


async def test_a_corrected_memory_is_found_by_its_new_words(runtime: Service, platform: Service) -> None:
    [one] = await learn(runtime, "diary", "Likes tea")
    await platform.patch(f"{MEMORIES}/{one}", json={"memory": "Likes coffee"}, uid="ana")

    assert await found(platform, "coffee") == ["Likes coffee"]
    assert await found(platform, "tea") == []


async def test_expired_ones_are_found_when_asked_for(runtime: Service, platform: Service) -> None:
    await learn(runtime, "diary", "The gate code is 4471", expiration_date="2020-01-01")

    assert await found(platform, "gate") == []
    assert await found(platform, "gate", show_expired="true") == ["The gate code is 4471"]


async def test_what_was_found_is_sliced(runtime: Service, platform: Service) -> None:
    await learn(runtime, "diary", *(f"Tea number {n}" for n in range(5)))

    whole = await found(platform, "tea")
    assert len(whole) == 5
    assert await found(platform, "tea", limit=2) + await found(platform, "tea", limit=3, offset=2) == whole
    status, said = await platform.get(MEMORIES, params={"q": "tea", "limit": 2}, uid="ana")
    assert (status, said["total"], said["next"], 0 < said["memories"][0]["score"] <= 1) == (200, 5, None, True)


@pytest.mark.parametrize("q", ["*", "'; drop table", "a & b | !c", "🍵", "\u202eabc", "(((", "\\", "%", "the"])
async def test_what_is_hostile_or_empty_of_words_finds_nothing_and_harms_nothing(
    runtime: Service, platform: Service, q: str
) -> None:
    await learn(runtime, "diary", "Likes tea")

    assert await found(platform, q) == []
    assert await found(platform, "tea") == ["Likes tea"]


async def test_a_query_that_cannot_be_is_refused(platform: Service) -> None:
    for query in ("q=a%00b", "q=a&q=b", "q=tea&limit=0", "q=tea&page=2"):
        assert (await platform.get(f"{MEMORIES}?{query}", uid="ana"))[0] == 422, query
