"""The Mem0 dialect over HTTP, on each engine: shapes, scoping, filters, refusals."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.acceptance.mem0_key import Program, program
from tests.services import Service

MINE = {"user_id": "ana"}
UNKNOWN = "7d4e1f6a-0000-4000-8000-000000000001"


@pytest.fixture
async def ana(engine_service: Service) -> Program:
    return await program(engine_service)


async def test_ping_says_what_clients_read(ana: Program) -> None:
    for path in ("/v1/ping", "/v1/ping/"):
        view = await ana.call("GET", path)
        assert view["status"] == "ok"
        assert view["org_id"]
        assert view["project_id"]


async def test_no_key_and_a_wrong_one_are_refused_in_json(engine_service: Service) -> None:
    for headers in ({}, {"Authorization": "Token m0-wrong"}):
        status, view = await engine_service.get("/v1/ping/", uid=None, headers=headers)
        assert (status, type(view["detail"])) == (401, str)


async def test_a_memory_has_every_member_that_clients_read(ana: Program) -> None:
    item = await ana.add("I love hiking", run_id="r1", metadata={"source": "chat"})
    view = await ana.call("GET", f"/v1/memories/{item['id']}/")

    assert {"id", "memory", "user_id", "agent_id", "app_id", "run_id", "session_id", "metadata", "categories", "immutable", "expiration_date", "hash", "created_at", "updated_at"} <= view.keys()  # fmt: skip
    assert (view["memory"], view["user_id"], view["agent_id"], view["run_id"]) == ("I love hiking", "ana", None, "r1")
    assert (view["metadata"], type(view["categories"])) == ({"source": "chat"}, list)


async def test_memories_are_sorted_into_the_calls_categories_else_the_projects(ana: Program) -> None:
    project = "/api/v1/orgs/organizations/runtime-memory/projects/default/"
    await ana.call("PATCH", project, json={"custom_categories": [{"outdoors": "hiking, mountains, nature"}]})
    await ana.add("I love hiking in the mountains")
    await ana.add("I cook pasta on Sundays", custom_categories=[{"kitchen": "cooking, recipes, meals"}])

    assert await ana.listed({"AND": [MINE, {"categories": {"in": ["outdoors"]}}]}) == ["I love hiking in the mountains"]
    assert await ana.listed({"AND": [MINE, {"categories": {"contains": "kitch"}}]}) == ["I cook pasta on Sundays"]
    assert await ana.search("sunday", MINE, categories=["kitchen"]) == ["I cook pasta on Sundays"]


async def test_an_add_at_once_answers_what_was_kept_in_each_version(ana: Program) -> None:
    said = {"messages": [{"role": "user", "content": "I love tea"}], "user_id": "ana", "infer": False}
    v3 = await ana.call("POST", "/v3/memories/add/", json=said)
    v1 = await ana.call("POST", "/v1/memories/", json={**said, "messages": "I love jam"})
    v11 = await ana.call("POST", "/v1/memories/", json={**said, "messages": "I love figs", "output_format": "v1.1"})

    assert (v3["status"], v3["results"][0]["event"], v3["results"][0]["data"]["memory"]) == (
        "SUCCEEDED",
        "ADD",
        "I love tea",
    )
    assert v1[0]["data"] == {"memory": "I love jam"}
    assert v11["results"][0]["memory"] == "I love figs"
    assert v11["relations"] == []


async def test_an_add_is_queued_by_default_and_its_event_tells_how_it_ended(ana: Program) -> None:
    said = {"messages": [{"role": "user", "content": "I love tea"}], "user_id": "ana"}
    [v1] = await ana.call("POST", "/v1/memories/", json=said)
    v3 = await ana.call("POST", "/v3/memories/add/", json={**said, "messages": "I love jam"})

    assert {"id", "event", "data", "status", "event_id", "message"} <= v1.keys()
    assert (v1["status"], v3["status"]) == ("PENDING", "PENDING")
    for event_id in (v1["event_id"], v3["event_id"]):
        event = await ana.call("GET", f"/v1/event/{event_id}/")
        for _ in range(1200):
            if event["status"] not in {"PENDING", "RUNNING"}:
                break
            await asyncio.sleep(0.05)
            event = await ana.call("GET", f"/v1/event/{event_id}/")
        assert (event["status"], event["results"][0]["event"]) == ("SUCCEEDED", "ADD")
    assert sorted(await ana.listed(MINE)) == ["I love jam", "I love tea"]
    events = await ana.call("GET", "/v1/events/")
    assert {one["id"] for one in events["results"]} == {v1["event_id"], v3["event_id"]}


async def test_search_answers_results_in_versions_2_and_3_and_a_list_in_1(ana: Program) -> None:
    await ana.add("I love hiking in the mountains")

    for version in (2, 3):
        view = await ana.call(
            "POST", f"/v{version}/memories/search/", json={"query": "outdoor hobbies", "filters": MINE}
        )
        assert view["results"][0]["memory"] == "I love hiking in the mountains"
        assert 0 <= view["results"][0]["score"] <= 1
    [found] = await ana.call("POST", "/v1/memories/search/", json={"query": "outdoor hobbies", "user_id": "ana"})
    assert found["memory"] == "I love hiking in the mountains"


async def test_lists_have_the_shape_of_their_version(ana: Program) -> None:
    for number in range(5):
        await ana.add(f"fact {number}")

    v3 = await ana.call("POST", "/v3/memories/?page=2&page_size=2", json={"filters": MINE})
    assert (v3["count"], [one["memory"] for one in v3["results"]]) == (5, ["fact 2", "fact 1"])
    assert v3["next"].startswith("http")
    assert "page=3" in v3["next"]
    assert "page=1" in v3["previous"]
    assert len(await ana.call("POST", "/v2/memories/", json={"filters": MINE})) == 5
    assert (await ana.call("POST", "/v2/memories/", json={"filters": MINE, "page": 1, "page_size": 2}))["count"] == 5
    assert len(await ana.call("GET", "/v1/memories/?user_id=ana")) == 5
    assert (await ana.call("GET", "/v1/memories/?user_id=ana&page=3&page_size=2"))["next"] is None


@pytest.mark.field("B17")
async def test_ids_hold_at_the_top_level_in_filters_and_together(ana: Program) -> None:
    await ana.add("likes tea", run_id="r1")

    assert await ana.search("tea", None, version=2, user_id="ana") == ["likes tea"]
    assert await ana.search("tea", MINE, version=2) == ["likes tea"]
    assert await ana.search("tea", {"run_id": "r2"}, version=2, run_id="r1") == []


@pytest.mark.field("B20")
async def test_a_filter_that_is_not_known_is_refused_not_ignored(ana: Program) -> None:
    await ana.call("POST", "/v3/memories/", json={"filters": {**MINE, "made_up_key": "x"}}, status=400)
    assert await ana.listed({**MINE, "metadata": {"made_up_key": "x"}}) == []


@pytest.mark.field("B23")
async def test_a_list_and_a_search_filter_alike(ana: Program) -> None:
    for words, metadata in (("red tea", {"colour": "red"}), ("blue tea", {"colour": "blue"}), ("plain tea", None)):
        await ana.add(words, metadata=metadata)
    for raw in (
        {"metadata": {"colour": {"ne": "red"}}},
        {"NOT": {"metadata": {"colour": "red"}}},
        {"OR": [{"metadata": {"colour": "red"}}]},
    ):
        filters = {"AND": [MINE, raw]}
        assert set(await ana.listed(filters)) == set(await ana.search("tea", filters))
    assert set(await ana.listed({"AND": [MINE, {"metadata": {"colour": {"ne": "red"}}}]})) == {"blue tea", "plain tea"}


async def test_a_user_and_an_agent_in_one_and_answer_nothing_and_either_both(ana: Program) -> None:
    await ana.add("the user's")
    await ana.add("the agent's", user_id=None, agent_id="bot")
    both = [MINE, {"agent_id": "bot"}]

    assert await ana.listed({"AND": both}) == []
    assert set(await ana.listed({"OR": both})) == {"the user's", "the agent's"}
    assert await ana.listed({"agent_id": "bot"}) == ["the agent's"]


async def test_with_a_user_and_an_agent_each_fact_is_of_the_one_who_said_it(ana: Program) -> None:
    said = [{"role": "user", "content": "I am vegan"}, {"role": "assistant", "content": "I suggested tofu"}]
    await ana.call(
        "POST", "/v3/memories/add/", json={"messages": said, "user_id": "ana", "agent_id": "bot", "infer": False}
    )

    assert await ana.listed(MINE) == ["I am vegan"]
    assert await ana.listed({"agent_id": "bot"}) == ["I suggested tofu"]


async def test_an_application_of_this_dialect_is_the_native_one(ana: Program, engine_service: Service) -> None:
    await ana.add("My sister is called Vera", app_id="shop")
    _, native = await engine_service.get("/api/v1/apps/memories/shop", uid="ana")

    assert [one["memory"] for one in native["memories"]] == await ana.listed({"AND": [MINE, {"app_id": "shop"}]})
    assert await ana.listed({"AND": [MINE, {"app_id": "home"}]}) == []


@pytest.mark.parametrize("path", ["/v3/memories/", "/v2/memories/", "/v3/memories/search/", "/v2/memories/search/"])
@pytest.mark.parametrize(
    "filters", [None, {}, {"metadata": {"a": 1}}, {"user_id": {"ne": "ana"}}, {"NOT": {"run_id": "r"}}]
)
async def test_an_entity_is_asked_for(ana: Program, path: str, filters: Any) -> None:
    view = await ana.call("POST", path, json={"query": "tea", "filters": filters}, status=400)

    assert view["detail"] == view["error"] == view["message"]


@pytest.mark.parametrize(
    "filters",
    [
        {"user_id": "victim"},
        {"OR": [{"user_id": "victim"}, {"user_id": "ana"}]},
        {"user_id": {"in": ["ana", "victim"]}},
    ],
)
async def test_another_persons_id_is_refused(ana: Program, filters: Any) -> None:
    await ana.call("POST", "/v3/memories/", json={"filters": filters}, status=403)
    await ana.call("POST", "/v2/memories/search/", json={"query": "tea", "filters": filters}, status=403)


async def test_another_persons_memories_are_neither_read_nor_touched(ana: Program, engine_service: Service) -> None:
    item = await ana.add("hers")
    ben = await program(engine_service, "ben")
    for method, path, said in (
        ("GET", f"/v1/memories/{item['id']}/", None),
        ("PUT", f"/v1/memories/{item['id']}/", {"text": "his"}),
        ("DELETE", f"/v1/memories/{item['id']}/", None),
        ("GET", f"/v1/memories/{item['id']}/history/", None),
    ):
        mine = await ben.call(method, path.replace(item["id"], UNKNOWN), json=said, status=404)
        assert await ben.call(method, path, json=said, status=404) == mine
    await ben.call("DELETE", "/v1/memories/?user_id=ana", status=403)
    await ben.call("DELETE", "/v2/entities/user/ana/", status=403)
    await ben.call("DELETE", "/v1/memories/?user_id=*")
    await ben.call("POST", "/v3/memories/add/", json={"messages": "x", "user_id": "ana"}, status=403)
    assert await ana.listed(MINE) == ["hers"]


async def test_a_bound_key_reads_and_writes_its_application_only(ana: Program, engine_service: Service) -> None:
    await ana.add("elsewhere", app_id="home")
    shop = await program(engine_service, application="shop")
    await shop.add("in the shop")

    assert await shop.listed(MINE) == ["in the shop"]
    assert await shop.listed({"app_id": "*"}) == ["in the shop"]
    assert await shop.listed({"app_id": "home"}) == []
    await shop.call("POST", "/v3/memories/add/", json={"messages": "x", "app_id": "home"}, status=403)
    await shop.call("DELETE", "/v1/memories/?user_id=ana")
    assert await ana.listed(MINE) == ["elsewhere"]


async def test_an_update_changes_what_is_said_and_keeps_the_rest(ana: Program) -> None:
    item = await ana.add("I love hiking", metadata={"a": 1}, expiration_date="2999-01-01")
    path = f"/v1/memories/{item['id']}/"

    assert (await ana.call("PUT", path, json={"text": "I love cycling"}))["memory"] == "I love cycling"
    view = await ana.call("PUT", path, json={"metadata": {"b": 2}, "expiration_date": None})
    assert (view["metadata"], view["expiration_date"], view["memory"]) == ({"a": 1, "b": 2}, None, "I love cycling")
    history = await ana.call("GET", f"{path}history/")
    assert [(one["event"], one["old_memory"], one["new_memory"]) for one in history][-1] == (
        "UPDATE",
        "I love hiking",
        "I love cycling",
    )
    await ana.call("PUT", path, json={}, status=400)
    await ana.call("PUT", path, json={"text": " "}, status=400)


async def test_an_immutable_memory_is_not_changed_but_forgotten(ana: Program) -> None:
    item = await ana.add("born in 1990", immutable=True)
    path = f"/v1/memories/{item['id']}/"

    view = await ana.call("PUT", path, json={"text": "born in 1991"}, status=403)
    assert "immutable" in view["detail"]
    assert (await ana.call("GET", path))["immutable"] is True
    assert (await ana.call("DELETE", path))["message"]
    await ana.call("GET", path, status=404)


async def test_expired_ones_are_hidden_unless_asked_for_and_got_by_id(ana: Program) -> None:
    item = await ana.add("old news", expiration_date="2020-01-01")

    assert await ana.listed(MINE) == await ana.search("news", MINE) == []
    assert (
        await ana.listed(MINE, show_expired=True) == await ana.search("news", MINE, show_expired=True) == ["old news"]
    )
    assert (await ana.call("GET", f"/v1/memories/{item['id']}/"))["expiration_date"] == "2020-01-01"


async def test_a_timestamp_backdates(ana: Program) -> None:
    await ana.add("an old fact", timestamp=1_700_000_000)

    assert await ana.listed({"AND": [MINE, {"created_at": {"lt": "2024-01-01"}}]}) == ["an old fact"]
    assert await ana.listed(MINE, start_date="2023-11-14", end_date="2023-11-14") == ["an old fact"]
    assert await ana.listed(MINE, start_date="2023-11-15") == []


async def test_delete_all_asks_for_an_entity_and_keeps_the_others(ana: Program) -> None:
    await ana.add("one", run_id="r1")
    await ana.add("two", run_id="r2")

    for query in ("", "?filters={'user_id': 'ana'}", "?org_id=x", "?user_id="):
        await ana.call("DELETE", f"/v1/memories/{query}", status=400)
    await ana.call("DELETE", "/v1/memories/?run_id=r1")
    assert await ana.listed(MINE) == ["two"]


async def test_entities_are_listed_and_forgotten_by_name_or_number(ana: Program) -> None:
    await ana.add("one", run_id="r/1", app_id="shop")
    await ana.add("two", user_id=None, agent_id="bot")
    view = await ana.call("GET", "/v1/entities/")

    assert {(one["type"], one["name"]) for one in view["results"]} == {("user", "ana"), ("agent", "bot"), ("app", "default"), ("app", "shop"), ("run", "r/1")}  # fmt: skip
    assert (view["total_users"], view["total_apps"]) == (1, 2)
    number = next(one["id"] for one in view["results"] if one["type"] == "agent")
    await ana.call("DELETE", f"/v1/entities/agent/{number}/")
    await ana.call("DELETE", "/v2/entities/run/r/1/")
    await ana.call("DELETE", "/v2/entities/planet/mars/", status=400)
    assert (await ana.call("GET", "/v1/entities/"))["count"] == 0


async def test_a_batch_does_what_it_can_and_says_what_it_left(ana: Program) -> None:
    ids = [(await ana.add(f"fact {n}"))["id"] for n in range(3)]
    changes = [{"memory_id": one, "text": f"better {n}"} for n, one in enumerate(ids[:2])]

    view = await ana.call("PUT", "/v1/batch/", json={"memories": [*changes, {"memory_id": UNKNOWN, "text": "x"}]})
    assert (view["message"], len(view["failed"])) == ("Successfully updated 2 memories", 1)
    view = await ana.call("DELETE", "/v1/batch/", json={"memories": [{"memory_id": ids[0]}, ids[1]]})
    assert view["message"] == "Successfully deleted 2 memories"
    assert await ana.listed(MINE) == ["fact 2"]
    await ana.call("PUT", "/v1/batch/", json={"memories": [{"memory_id": UNKNOWN}] * 1001}, status=400)
    await ana.call("DELETE", "/v1/batch/", json={"memories": [{"memory_id": "x"}]}, status=400)


@pytest.mark.field("B34")
async def test_an_id_that_cannot_be_one_is_refused(ana: Program) -> None:
    for path in ("/v1/memories/x/", "/v1/memories/x/history/", "/v1/memories/..%2F..%2Fping/"):
        await ana.call("GET", path, status=400)
    await ana.call("GET", "/v1/event/x/", status=404)


async def test_feedback_and_summary(ana: Program) -> None:
    item = await ana.add("I love tea")

    view = await ana.call(
        "POST", "/v1/feedback/", json={"memory_id": item["id"], "feedback": "POSITIVE", "feedback_reason": None}
    )
    assert (view["id"], view["feedback"]) == (item["id"], "POSITIVE")
    await ana.call("POST", "/v1/feedback/", json={"memory_id": UNKNOWN, "feedback": "POSITIVE"}, status=404)
    await ana.call("POST", "/v1/feedback/", json={"memory_id": item["id"], "feedback": "MEH"}, status=400)
    assert (await ana.call("POST", "/v1/summary/", json={"filters": MINE}))["summary"] == "- I love tea"


async def test_what_is_not_there_is_a_404_in_json(ana: Program) -> None:
    for path in ("/v1/nothing/", "/v2/entities/user/ana/profile/", "/v9/memories/"):
        view = await ana.call("GET", path, status=404)
        assert isinstance(view["detail"], str)


async def test_a_key_that_may_impersonate_acts_for_the_one_person_named(
    runtime: Service, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shared.api_keys import digest_of, new_key
    from shared.db.pool import Database
    from shared.stores.pg.api_keys import PostgresApiKeys

    record, text = new_key("ops", "test", application=None, scopes=frozenset({"users:impersonate"}))
    opened = Database(database)
    await opened.open()
    await PostgresApiKeys(opened).keep(record, digest_of(text))
    await opened.close()
    ops = Program(runtime, text)
    await ops.add("she said", user_id="ana")

    assert await ops.listed({"user_id": "ana"}) == ["she said"]
    assert await ops.listed({"user_id": "ops"}) == []
    await ops.call("POST", "/v3/memories/", json={"filters": {"user_id": {"in": ["ana", "ben"]}}}, status=403)
    _, access = await runtime.get("/api/v1/apps/memory-access", uid="ana")
    assert {(one["actor"], one["door"]) for one in access["access"]} == {("ops", "mem0")}


async def test_what_programs_keep_beside_goes_when_a_person_is_erased(runtime: Service, platform: Service) -> None:
    ana = await program(runtime)
    item = await ana.add("I love tea")
    await ana.call("POST", "/v1/feedback/", json={"memory_id": item["id"], "feedback": "POSITIVE"})
    await ana.call(
        "POST", "/v1/exports/", json={"schema": {"properties": {}, "type": "object"}, "filters": MINE}, status=201
    )
    hook = {"url": "https://example.com/hook", "event_types": ["memory_add"]}
    await ana.call("POST", "/api/v1/webhooks/projects/default/", json=hook, status=201)

    status, _ = await platform.delete("/api/memory", uid="ana")
    assert status == 200
    assert await ana.call("GET", "/api/v1/webhooks/projects/default/") == []
    await ana.call("POST", "/v1/exports/get/", json={}, status=404)
