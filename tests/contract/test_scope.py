"""Nobody reads, finds, changes or forgets another's, whatever they say; an identifier is taken as it is or refused."""

from __future__ import annotations

import uuid
from itertools import product
from urllib.parse import quote

import asyncpg
import pytest

from tests.contract.routes import BODY, routes_of_all
from tests.services import Service, bearer, start_platform, start_runtime

APP = "/api/v1/apps/memories/desk"
PLATFORM = "/api/runtimes/v1/memories"


async def learn(runtime: Service, words: str, uid: str = "ana", app: str = APP, **more: object) -> str:
    status, said = await runtime.post(app, json={"memory": words, "wait": True, **more}, uid=uid)
    assert status == 200, said
    return said["results"][0]["id"]


async def seen(runtime: Service, uid: str, app: str = APP) -> list[dict]:
    status, said = await runtime.get(app, uid=uid)
    assert status == 200, said
    return said["memories"]


async def words(runtime: Service, uid: str, app: str = APP) -> list[str]:
    return [memory["memory"] for memory in await seen(runtime, uid, app)]


@pytest.mark.field("B1")
async def test_others_near_the_query_crowd_nobody_out(runtime: Service) -> None:
    messages = [{"role": "user", "content": f"The quarterly report is due on Monday the {n}"} for n in range(30)]
    await runtime.post(APP, json={"messages": messages, "wait": True}, uid="bob")
    own = {f"My cat is called {name}" for name in ("Mia", "Leo", "Nina", "Otto", "Pia")}
    for one in own:
        await learn(runtime, one)

    _, said = await runtime.post(f"{APP}/search", json={"query": "quarterly report due Monday", "limit": 5}, uid="ana")

    assert {memory["memory"] for memory in said["memories"]} == own


@pytest.mark.field("B4")
async def test_forgetting_all_forgets_ones_own_only(runtime: Service, platforms: list[Service]) -> None:
    for uid in ("ana", "bob"):
        for n in range(2):
            await learn(runtime, f"{uid} {n}", uid)
    before = await seen(runtime, "bob")

    assert await runtime.delete(APP, params={"count": 2}, uid="ana") == (200, {"forgotten": 2})

    assert await words(runtime, "ana") == []
    assert await seen(runtime, "bob") == before
    for platform in platforms:
        assert (await platform.get(PLATFORM, uid="bob"))[1]["total"] == 2


@pytest.mark.field("B5")
async def test_forgetting_all_forgets_more_than_a_page(runtime: Service) -> None:
    messages = [{"role": "user", "content": f"Fact {n}"} for n in range(130)]
    await runtime.post(APP, json={"messages": messages, "wait": True}, uid="ana")

    assert await runtime.delete(APP, params={"count": 130}, uid="ana") == (200, {"forgotten": 130})

    assert await words(runtime, "ana") == []
    assert (await runtime.post(f"{APP}/search", json={"query": "Fact 7"}, uid="ana"))[1]["memories"] == []


@pytest.mark.field("B7")
async def test_a_correction_moves_nothing_to_anybody(runtime: Service, platforms: list[Service]) -> None:
    mine = await learn(runtime, "likes tea")
    [before] = await seen(runtime, "ana")
    said = {"memory": "likes green tea", "user_id": "bob", "agent_id": "app:other", "created_at": "1999-01-01"}
    said["metadata"] = {"user_id": "bob", "agent_id": "app:other", "created_at": "1999-01-01T00:00:00Z", "hash": "x"}

    for service, path in ((runtime, APP), *((platform, PLATFORM) for platform in platforms)):
        assert (await service.patch(f"{path}/{mine}", json=said, uid="ana"))[0] == 200

    [after] = await seen(runtime, "ana")
    assert (after["memory"], after["created_at"]) == ("likes green tea", before["created_at"])
    assert await words(runtime, "bob") == []
    for platform in platforms:
        assert (await platform.get(PLATFORM, uid="bob"))[1]["memories"] == []
        assert (await platform.get(PLATFORM, params={"agent_id": "app:other"}, uid="ana"))[1]["memories"] == []


@pytest.mark.field("B8")
async def test_what_is_learned_stays_with_its_person_whatever_the_metadata_say(
    runtime: Service, platforms: list[Service]
) -> None:
    reserved = {
        "user_id": "bob",
        "app_id": "B",
        "agent_id": "app:B",
        "run_id": "r",
        "actor_id": "bob",
        "data": "forged",
    }
    await learn(
        runtime, "likes tea", metadata={**reserved, "corrected_by": "bob", "created_at": "1999", "colour": "red"}
    )

    for platform in platforms:
        [memory] = (await platform.get(PLATFORM, uid="ana"))[1]["memories"]
        assert (memory["user_id"], memory["agent_id"], memory["memory"]) == ("ana", "app:desk", "likes tea")
    [memory] = await seen(runtime, "ana")
    assert (memory["memory"], memory["metadata"]) == ("likes tea", {"colour": "red"})
    assert memory["corrected_by"] is None
    assert not memory["created_at"].startswith("1999")
    for uid, app in (("bob", APP), ("bob", "/api/v1/apps/memories/B"), ("ana", "/api/v1/apps/memories/B")):
        assert await words(runtime, uid, app) == []


@pytest.mark.field("B10")
async def test_somebody_elses_id_answers_as_an_unknown_one_does_on_every_route(
    runtime: Service, platforms: list[Service]
) -> None:
    theirs = await learn(runtime, "likes tea")
    [before] = await seen(runtime, "ana")
    asked = [
        (service, route) for service, route in routes_of_all([runtime, *platforms]) if "{memory_id}" in route.template
    ]
    assert len(asked) >= 4 + 4 * len(platforms)

    for service, route in asked:
        foreign = await service.call(route.method, route.url(memory_id=theirs), uid="bob", json=BODY)
        unknown = await service.call(route.method, route.url(memory_id=str(uuid.uuid4())), uid="bob", json=BODY)
        assert foreign == unknown, str(route)
        assert foreign[0] == 404, str(route)

    assert await seen(runtime, "ana") == [before]


MALFORMED = [
    "abc",
    "01234567",
    "{%s}",
    "%s%00",
    "%s%2F..",
    "a%2Fb",
    "*",
    "%F0%9F%90%88",
    "x" * 5000,
    "%20",
    "%s%20",
    "urn:uuid:%s",
]


@pytest.mark.field("B74")
@pytest.mark.field("B76")
async def test_a_malformed_id_is_a_clear_refusal_on_every_route(runtime: Service, platforms: list[Service]) -> None:
    mine = await learn(runtime, "likes tea")

    for bad, (service, route) in product(MALFORMED, routes_of_all([runtime, *platforms])):
        for part in ("memory_id", "event_id", "key_id", "state_id"):
            if f"{{{part}}}" not in route.template:
                continue
            url = route.url(**{part: bad.replace("%s", mine)})
            status, said = await service.call(route.method, url, uid="ana", json=BODY)
            assert 400 <= status < 500, (bad, str(route), status)
            assert isinstance(said["detail"], str)
    assert await words(runtime, "ana") == ["likes tea"]


@pytest.mark.field("B11")
@pytest.mark.field("B17")
@pytest.mark.field("S2")
async def test_nothing_that_a_caller_says_of_themselves_counts(runtime: Service, platforms: list[Service]) -> None:
    await learn(runtime, "Bob's secret", "bob")
    claims = {"user_id": "bob", "uid": "bob", "sub": "bob", "person": "bob", "agent_id": "app:desk", "owner": "bob"}
    filters = {"AND": [{"user_id": "bob"}], "OR": [{"user_id": "bob"}], "NOT": [{"user_id": "ana"}], "user_id": "*"}
    headers = {"Mem0-User-ID": "bob", "X-User-ID": "bob", "X-Forwarded-User": "bob", "Remote-User": "bob"}
    more = {"json": {"query": "secret", "count": 9, **claims, "filters": filters}, "headers": headers, "uid": "ana"}

    for verb in ("search", "recall"):
        status, said = await runtime.post(f"{APP}/{verb}", params=claims, **more)
        assert (status, said["memories"]) == (200, [])
    assert (await runtime.get(APP, params=claims, headers=headers, uid="ana"))[1]["memories"] == []
    assert await runtime.delete(APP, params={**claims, "count": 9}, **more) == (200, {"forgotten": 0})
    for platform in platforms:
        assert (await platform.get(PLATFORM, params={"user_id": "bob"}, uid="ana"))[0] == 403
        assert (await platform.delete(PLATFORM, params={**claims, "count": 9}, uid="ana"))[0] == 403

    assert await words(runtime, "bob") == ["Bob's secret"]


@pytest.mark.field("B16")
async def test_people_whose_names_are_alike_are_apart(runtime: Service, platforms: list[Service]) -> None:
    people = [
        "ana",
        "ana1",
        "an",
        "ANA",
        "ana%",
        "ana_",
        "%",
        "_",
        "ána",
        "a\u0301na",
        "an\\",
        "an'a",
        'an"a',
        "аna",
        "app:ana",
    ]
    for uid in people:
        await learn(runtime, f"I am called {uid.encode().hex()}", uid)

    for uid in people:
        own = [f"I am called {uid.encode().hex()}"]
        assert await words(runtime, uid) == own
        _, found = await runtime.post(f"{APP}/search", json={"query": "what am I called", "limit": 50}, uid=uid)
        assert [memory["memory"] for memory in found["memories"]] == own
        for platform in platforms:
            assert [memory["memory"] for memory in (await platform.get(PLATFORM, uid=uid))[1]["memories"]] == own


@pytest.mark.field("B16")
async def test_applications_whose_names_are_alike_are_apart(runtime: Service, platforms: list[Service]) -> None:
    names = [
        "desk",
        "desk1",
        "des",
        "DESK",
        "desk%",
        "desk_",
        "%",
        "_",
        "dėsk",
        "de/sk",
        "de?sk",
        "de#sk",
        "de;sk",
        "de:sk",
    ]
    for name in names:
        await learn(runtime, f"This is {name}", app=f"/api/v1/apps/memories/{quote(name, safe='')}")

    for name in names:
        path = f"/api/v1/apps/memories/{quote(name, safe='')}"
        assert await words(runtime, "ana", path) == [f"This is {name}"]
        for platform in platforms:
            _, said = await platform.get(PLATFORM, params={"agent_id": f"app:{name}"}, uid="ana")
            assert [memory["memory"] for memory in said["memories"]] == [f"This is {name}"]


@pytest.mark.field("B19")
async def test_both_services_show_what_is_kept_in_a_collection_of_another_name(
    settings_environment: pytest.MonkeyPatch, database: str
) -> None:
    settings_environment.setenv("DATALAYER_POSTGRESQL_AGENT_MEMORIES_COLLECTION", "Other_memories2")
    runtime, platform = await start_runtime(database), await start_platform(database)
    try:
        mine = await learn(runtime, "likes tea")

        assert await words(runtime, "ana") == ["likes tea"]
        _, found = await runtime.post(f"{APP}/search", json={"query": "tea"}, uid="ana")
        assert [memory["id"] for memory in found["memories"]] == [mine]
        assert [memory["id"] for memory in (await platform.get(PLATFORM, uid="ana"))[1]["memories"]] == [mine]
    finally:
        await runtime.client.close()
        await platform.client.close()


UNUSABLE = [
    "*",
    "",
    " ",
    " ana",
    "ana ",
    "a b",
    "a\tb",
    "\u00a0",
    "ana\u2003",
    "ana\u200a",
    "a\x00",
    "a\x1f",
    "a\x7f",
    "\ud800",
    "a" * 256,
]


@pytest.mark.field("S1")
@pytest.mark.field("S12")
@pytest.mark.field("B86")
async def test_a_person_who_cannot_be_is_refused_at_every_door_alike(
    runtime: Service, platforms: list[Service]
) -> None:
    await learn(runtime, "likes tea")
    for uid, (service, route) in product(UNUSABLE, routes_of_all([runtime, *platforms])):
        if route.template.startswith("/api/"):
            status, said = await service.call(route.method, route.url(), uid=None, headers=bearer(uid), json=BODY)
            assert status == 401, (uid, str(route), said)
    assert await words(runtime, "ana") == ["likes tea"]


@pytest.mark.field("S1")
@pytest.mark.field("S12")
@pytest.mark.field("B86")
async def test_an_application_that_cannot_be_is_refused_at_every_door_alike(
    runtime: Service, platforms: list[Service]
) -> None:
    await learn(runtime, "likes tea")
    for app in [*(bad for bad in UNUSABLE if bad not in ("", "\ud800")), "app:desk", "app:"]:
        for service, route in routes_of_all([runtime, *platforms]):
            if "{app}" in route.template:
                url = route.url(app=quote(app, safe="")).update_query(count=9)
                status, said = await service.call(route.method, url, uid="ana", json=BODY)
                assert status == 422 or (status == 405 and route.template == "/mcp/{app}"), (app, str(route), said)
        for platform, method in product(platforms, ("GET", "DELETE")):
            query = {"agent_id": f"app:{app}" if app != "app:" else app, "count": 9}
            assert (await platform.call(method, PLATFORM, params=query, uid="ana"))[0] == 422
    assert await words(runtime, "ana") == ["likes tea"]


@pytest.mark.field("B86")
async def test_a_person_who_can_be_learns_reads_and_forgets(runtime: Service, platforms: list[Service]) -> None:
    people = ["ana%", "日本", "jose\u0301", "josé", "👩‍👩‍👧", "a" * 255, "a/b", "a?b#c", "a..b", "';--", "null", "0"]
    for uid in people:
        mine = await learn(runtime, "likes tea", uid)

        assert await words(runtime, uid) == ["likes tea"]
        for platform in platforms:
            assert (await platform.get(f"{PLATFORM}/{mine}", uid=uid))[1]["memory"]["user_id"] == uid
        assert (await runtime.delete(f"{APP}/{mine}", uid=uid))[0] == 200
        assert await words(runtime, uid) == []


@pytest.mark.field("S10")
async def test_a_row_that_names_nobody_is_shown_to_nobody(
    settings_environment: pytest.MonkeyPatch, database: str
) -> None:
    runtime, platform = await start_runtime(database), await start_platform(database)
    payloads = ["{}", "null", "[]", '"x"', '{"data": "anybody\'s"}', '{"user_id": null, "agent_id": "app:desk"}']
    rows = [uuid.uuid4() for _ in payloads]
    connection = await asyncpg.connect(database)
    insert = "INSERT INTO public.agent_memories (id, vector, payload) VALUES ($1, $2::text::vector, $3::text::jsonb)"
    vector = str([0.05] * 384)
    await connection.executemany(insert, [(row, vector, said) for row, said in zip(rows, payloads, strict=True)])
    await connection.close()

    for uid in ("ana", "owner-1", "null", "None"):
        assert await words(runtime, uid) == []
        assert (await runtime.post(f"{APP}/search", json={"query": "anybody"}, uid=uid))[1]["memories"] == []
        assert (await platform.get(PLATFORM, uid=uid))[1]["memories"] == []
        for row in rows:
            assert (await platform.get(f"{PLATFORM}/{row}", uid=uid))[0] == 404
    await runtime.client.close()
    await platform.client.close()
