"""The main job through both services: learn, recall, list, correct, forget."""

from __future__ import annotations

import io
import uuid

import pytest

from tests.services import Service, bearer, token

APP = "/api/v1/apps/memories/app-1"
PLATFORM = "/api/runtimes/v1/memories"
FACTS = ("Parks on level 2 of the garage", "I am vegetarian and avoid gluten", "Meetings are on Tuesdays")


async def learn(runtime: Service, *facts: str, uid: str = "owner-1", app: str = APP) -> list[str]:
    ids = []
    for fact in facts:
        status, said = await runtime.post(app, json={"memory": fact, "wait": True}, uid=uid)
        assert status == 200, said
        ids.append(said["results"][0]["id"])
    return ids


async def words(service: Service, path: str = APP, uid: str = "owner-1") -> list[str]:
    status, said = await service.get(path, uid=uid)
    assert status == 200, said
    return [m["memory"] for m in said["memories"]]


async def test_recall_puts_the_right_fact_first_in_a_block_for_an_llm(runtime: Service) -> None:
    await learn(runtime, *FACTS)

    status, said = await runtime.post(f"{APP}/recall", json={"query": "dietary preferences"})

    assert status == 200
    assert said["memories"][0]["memory"] == FACTS[1]
    assert said["context"].startswith("[Relevant memories about this user:]\n- I am vegetarian")


async def test_the_platform_lists_the_same_newest_first_and_corrects_one_that_the_runtime_shows(
    runtime: Service, platform: Service
) -> None:
    ids = await learn(runtime, *FACTS)

    status, said = await platform.get(PLATFORM, params={"agent_id": "app:app-1"})
    assert status == 200
    assert [m["memory"] for m in said["memories"]] == list(reversed(FACTS))
    assert said["success"] is True
    status, said = await platform.patch(f"{PLATFORM}/{ids[0]}", json={"memory": " Parks on  the roof "})
    assert (status, said["memory"]["memory"], said["memory"]["corrected_by"]) == (200, "Parks on the roof", "owner-1")

    assert (await words(runtime))[2] == "Parks on the roof"


async def test_each_person_and_each_application_is_apart(runtime: Service, platform: Service) -> None:
    [mine] = await learn(runtime, "Ana likes tea", uid="ana")
    for uid, app in (("bob", APP), ("ana", "/api/v1/apps/memories/app-2"), ("ANA", APP), ("ana%", APP)):
        assert await words(runtime, app, uid) == []
        status, said = await runtime.post(f"{app}/search", json={"query": "Ana likes tea"}, uid=uid)
        assert (status, said["memories"]) == (200, [])
        assert (await runtime.patch(f"{app}/{mine}", json={"memory": "x"}, uid=uid))[0] == 404
        assert (await runtime.delete(f"{app}/{mine}", uid=uid))[0] == 404
        assert (await runtime.delete(app, params={"count": 9}, uid=uid)) == (200, {"forgotten": 0})
    assert (await platform.get(f"{PLATFORM}/{mine}", uid="bob"))[0] == 404
    assert (await platform.delete(f"{PLATFORM}/{mine}", uid="bob"))[0] == 404

    assert await words(runtime, uid="ana") == ["Ana likes tea"]


async def test_an_unknown_id_and_somebody_elses_answer_alike(runtime: Service, platform: Service) -> None:
    [mine] = await learn(runtime, "Ana likes tea", uid="ana")

    for service, path in ((runtime, APP), (platform, PLATFORM)):
        for method in ("GET", "PATCH", "DELETE"):
            body = {"json": {"memory": "x"}} if method == "PATCH" else {}
            theirs = await service.call(method, f"{path}/{mine}", uid="bob", **body)
            unknown = await service.call(method, f"{path}/{uuid.uuid4()}", uid="bob", **body)
            assert theirs == unknown
            assert theirs[0] == 404


async def test_forget_all_is_refused_when_it_grew_and_forgets_nothing(runtime: Service, platform: Service) -> None:
    await learn(runtime, *FACTS)

    status, said = await runtime.delete(APP, params={"count": 2})
    assert (status, said["total"]) == (409, 3)
    assert said["detail"] == "It remembers more than the 2 you confirmed now. Nothing was forgotten."
    assert (await platform.delete(PLATFORM, params={"agent_id": "app:app-1", "count": 2}))[0] == 409
    assert len(await words(runtime)) == 3
    assert (await runtime.delete(APP))[0] == 422

    assert await runtime.delete(APP, params={"count": 3}) == (200, {"forgotten": 3})
    assert await words(runtime) == []


async def test_the_same_words_are_kept_once(runtime: Service) -> None:
    [first] = await learn(runtime, FACTS[0])

    status, said = await runtime.post(APP, json={"memory": f" {FACTS[0]} ", "wait": True})

    assert (status, said["results"]) == (200, [{"id": first, "memory": FACTS[0], "event": "NONE"}])


async def test_pages_reach_everything_once_while_another_is_added(runtime: Service) -> None:
    await learn(runtime, *(f"Fact number {n}" for n in range(11)))
    seen, after = [], {}
    while True:
        status, said = await runtime.get(APP, params={"limit": 4, **after})
        assert status == 200
        seen += [m["memory"] for m in said["memories"]]
        if said["next"] is None:
            break
        after = {"cursor": said["next"]}
        await learn(runtime, f"Meanwhile {len(seen)}")

    assert seen == [f"Fact number {n}" for n in reversed(range(11))]


@pytest.mark.parametrize("bad", ["", "  ", "\u200b", "x" * 2001, None, 5, ["x"], "a\0b", "a\ud800b"])
async def test_a_correction_that_cannot_be_is_refused_and_changes_nothing(
    runtime: Service, platform: Service, bad: object
) -> None:
    [mine] = await learn(runtime, FACTS[0])

    for service, path in ((runtime, APP), (platform, PLATFORM)):
        status, said = await service.patch(f"{path}/{mine}", json={"memory": bad})
        assert status == 422, said
        assert isinstance(said["detail"], str)

    assert await words(runtime) == [FACTS[0]]


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b"[]", 400),
        (b'"x"', 400),
        (b"null", 400),
        (b'{"memory": NaN}', 400),
        (b'{"memory": 1e999}', 400),
        (b'{"memory": "x", "memory": "y"}', 400),
        (b'{"memory": "a\\u0000b"}', 422),
        (b'{"memory": "\\ud800"}', 422),
        (b"[" * 100_000, 400),
        (b'{"memory": "' + b"x" * 1_100_000 + b'"}', 413),
    ],
)
async def test_a_body_that_cannot_be_read_is_a_sentence(runtime: Service, raw: bytes, status: int) -> None:
    for path in (APP, f"{APP}/search", f"{APP}/recall"):
        got, said = await runtime.post(path, data=io.BytesIO(raw), headers={"Content-Type": "application/json"})
        assert got == status, (path, said)
        assert said["detail"] == said["error"] == said["message"]


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=-1",
        "limit=1001",
        "limit=x",
        "limit=1.5",
        "offset=-1",
        "cursor=zz",
        "page=2",
        "limit=1&limit=2",
    ],
)
async def test_a_list_refuses_what_it_does_not_know(runtime: Service, platform: Service, query: str) -> None:
    assert (await runtime.get(f"{APP}?{query}"))[0] == 422
    assert (await platform.get(f"{PLATFORM}?{query}"))[0] == 422


@pytest.mark.parametrize(
    "memory_id", ["abc", "%2F", "{0}", "1" * 5000, "%00", "🍵", "*", "00000000-0000-0000-0000-00000000000"]
)
async def test_a_malformed_id_is_not_found(runtime: Service, platform: Service, memory_id: str) -> None:
    for service, path in ((runtime, APP), (platform, PLATFORM)):
        for method in ("GET", "PATCH", "DELETE"):
            body = {"json": {"memory": "x"}} if method == "PATCH" else {}
            assert (await service.call(method, f"{path}/{memory_id}", **body))[0] == 404


@pytest.mark.parametrize("app", ["app:app-1", "%20", "a%20b", "*", "%00", "x" * 256])
async def test_a_malformed_application_is_refused(runtime: Service, app: str) -> None:
    assert (await runtime.get(f"/api/v1/apps/memories/{app}"))[0] == 422


async def test_no_token_no_memory(runtime: Service, platform: Service) -> None:
    for service, path in ((runtime, APP), (platform, PLATFORM)):
        assert (await service.get(path, uid=None))[0] == 401
        for headers in (
            bearer("owner-1", ttl=-10),
            {"Authorization": f"Bearer {token('owner-1', secret='x' * 40)}"},
            {"Authorization": "Bearer nonsense"},
        ):
            status, said = await service.get(path, uid=None, headers=headers)
            assert (status, said["code"]) == (401, "not_authenticated")
        assert (await service.get(path, uid=None, headers=bearer("x", anonymous=True)))[0] == 403


async def test_methods_and_addresses_that_are_not_there(runtime: Service) -> None:
    async with runtime.client.put(APP, headers=bearer("owner-1")) as response:
        assert response.status == 405
        assert "PATCH" not in response.headers["Allow"]
        assert (await response.json())["code"] == "method_not_allowed"
    assert (await runtime.get("/nowhere"))[0] == 404
    assert (await runtime.get(f"{APP}/"))[0] == 200
