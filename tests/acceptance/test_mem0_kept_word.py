"""What a released mem0 client asks for is done, or refused in a sentence: never quietly left out."""

from __future__ import annotations

from typing import Any

import pytest

from runtime_svc.mem0_dialect.adding import Adding, lesson
from tests.acceptance.mem0_key import Program, program
from tests.services import Service

MINE = {"user_id": "ana"}


@pytest.fixture
async def ana(engine_service: Service) -> Program:
    return await program(engine_service)


def said(**more: Any) -> dict[str, Any]:
    return {"messages": "I love tea", "user_id": "ana", "infer": False, **more}


@pytest.mark.field("B86")
@pytest.mark.parametrize("name", ["user_id", "agent_id", "run_id", "app_id"])
async def test_an_id_that_no_filter_could_ask_for_is_not_written(ana: Program, name: str) -> None:
    for value in ("", " ", "\u200b", "*", "x" * 256):
        refused = await ana.call("POST", "/v3/memories/add/", json=said(**{name: value}), status=400)
        assert refused["detail"]

    assert await ana.listed(MINE) == []


@pytest.mark.field("B86")
async def test_what_is_written_under_an_id_is_read_and_forgotten_under_it(ana: Program) -> None:
    for n, value in enumerate(("a", "a b", "%", "_", "\u202egnp", "👩‍👩‍👧", "' OR 1=1 --", "a/b", "x" * 255)):
        await ana.add(f"Fact {n}", run_id=value)
        assert await ana.listed({"run_id": value}) == [f"Fact {n}"]
        gone = await ana.call("DELETE", "/v1/memories/", params={"run_id": value})
        assert gone["deleted"] == 1


async def test_an_add_names_its_ids_in_filters_as_clients_spell_them(ana: Program) -> None:
    for filters in ({"user_id": "ana", "run_id": "r1"}, {"userId": "ana", "runId": "r1", "agentId": None}):
        body = {"messages": f"Said with {len(filters)}", "infer": False, "filters": filters}
        await ana.call("POST", "/v3/memories/add/", json=body)

    assert len(await ana.listed({"run_id": "r1"})) == 2


@pytest.mark.field("B17")
@pytest.mark.parametrize(
    "filters",
    [{"user_id": "bob"}, {"AND": [{"user_id": "bob"}]}, {"user_id": {"in": ["ana", "bob"]}}, {"made_up": "x"}],
)
async def test_filters_of_an_add_are_not_left_out(ana: Program, filters: dict[str, Any]) -> None:
    await ana.call("POST", "/v3/memories/add/", json=said(filters=filters), status=400)

    assert await ana.listed(MINE) == []


@pytest.mark.field("B34")
async def test_a_query_that_shows_nothing_is_refused_at_every_door(ana: Program, engine_service: Service) -> None:
    blank = {"query": "\u200b \u2060", "filters": MINE}
    for path in ("/v1/memories/search/", "/v3/memories/search/", "/api/v1/llm/gateway/search-memories"):
        await ana.call("POST", path, json=blank, status=400)
    for path in ("/api/v1/apps/memories/desk/search", "/api/v1/apps/memories/desk/recall"):
        status, _ = await engine_service.post(path, uid="ana", json=blank)
        assert status == 422


@pytest.mark.parametrize("version", [1, 2, 3])
async def test_relative_dates_of_a_search_are_told_from_its_reference_date(ana: Program, version: int) -> None:
    await ana.add("Lunch was at the Greek restaurant", timestamp="2025-03-10T12:00:00Z")
    await ana.add("Lunch was at the Thai restaurant", timestamp="2025-06-10T12:00:00Z")

    async def first(**more: Any) -> str:
        body = {"query": "Where did we eat yesterday?", "filters": MINE, **more}
        found = await ana.call("POST", f"/v{version}/memories/search/", json=body)
        words: str = (found if version == 1 else found["results"])[0]["memory"]
        return words

    greek, thai = "Lunch was at the Greek restaurant", "Lunch was at the Thai restaurant"
    for march in ("2025-03-11", "2025-03-11T23:30:00-08:00", 1_741_694_400, 1_741_694_400.5):
        assert await first(reference_date=march) == greek
    for june in ("2025-06-11", "2025-06-11T09:00:00", 1_749_643_200):
        assert await first(reference_date=june) == thai


async def test_what_is_no_value_of_an_option_is_refused_by_its_name(ana: Program) -> None:
    item = await ana.add("I love tea")
    one = f"/v1/memories/{item['id']}/"
    search, listing = {"query": "tea", "filters": MINE}, {"filters": MINE}
    asked: list[tuple[str, str, dict[str, Any], str]] = [
        *(
            ("POST", "/v3/memories/search/", search, name)
            for name in ("reference_date", "latest_only", "keyword_search")
        ),
        *(("POST", "/v2/memories/", listing, name) for name in ("latest_only", "enable_graph")),
        ("POST", "/v3/memories/add/", said(), "timestamp"),
        ("PUT", one, {}, "timestamp"),
    ]
    for method, path, body, name in asked:
        for value in ("soon", "2025-02-30", [1], {"a": 1}, 10**30):
            refused = await ana.call(method, path, json={**body, name: value}, status=400)
            assert name in refused["detail"], (path, value)
    await ana.call("DELETE", one, params={"delete_linked": "maybe"}, status=400)

    assert (await ana.call("GET", one))["memory"] == "I love tea"
    assert await ana.listed(MINE) == ["I love tea"]


async def test_a_deletion_with_what_is_linked_says_that_nothing_was(ana: Program) -> None:
    item, _ = await ana.add("I love tea"), await ana.add("I love jam")

    view = await ana.call("DELETE", f"/v1/memories/{item['id']}/", params={"delete_linked": "true"})
    assert view["cascade_count"] == 0
    assert await ana.listed(MINE, latest_only=True) == ["I love jam"]


async def test_a_list_with_the_graph_has_relations_in_each_version(ana: Program) -> None:
    await ana.add("I love tea")
    for version in (2, 3):
        view = await ana.call("POST", f"/v{version}/memories/", json={"filters": MINE, "enable_graph": True})
        assert (len(view["results"]), view["relations"]) == (1, [])
    view = await ana.call("GET", "/v1/memories/", params={**MINE, "enable_graph": "true"})
    assert (len(view["results"]), view["relations"]) == (1, [])


@pytest.mark.field("B41")
async def test_events_are_walked_by_number_as_by_next(ana: Program) -> None:
    ids = [
        (await ana.call("POST", "/v1/memories/", json=said(messages=f"Fact {n}", infer=True)))[0]["id"]
        for n in range(5)
    ]
    pages = [await ana.call("GET", "/v1/events/", params={"page": str(n), "page_size": "2"}) for n in (1, 2, 3, 4)]

    assert [one["id"] for page in pages for one in page["results"]] == ids[::-1]
    assert [(page["count"], page["next"] is None, page["previous"] is None) for page in pages] == [
        (5, False, True),
        (5, False, False),
        (5, True, False),
        (5, True, False),
    ]
    walked, address = [], "/v1/events/?page_size=2"
    while address:
        page = await ana.call("GET", address)
        walked += [one["id"] for one in page["results"]]
        address = page["next"] and "/" + page["next"].split("/", 3)[3]
    assert walked == ids[::-1]
    for wrong in ("0", "-1", "x", "1.5"):
        await ana.call("GET", "/v1/events/", params={"page": wrong}, status=400)


@pytest.mark.field("B41")
async def test_entities_are_all_listed_or_by_page(ana: Program) -> None:
    for n in range(4):
        await ana.add(f"Fact {n}", run_id=f"r{n}")
    whole = await ana.call("GET", "/v1/entities/")
    pages = [await ana.call("GET", "/v1/entities/", params={"page": str(n), "page_size": "4"}) for n in (1, 2, 3)]

    assert (whole["count"], whole["next"], len(whole["results"])) == (6, None, 6)
    assert [len(page["results"]) for page in pages] == [4, 2, 0]
    assert [one for page in pages for one in page["results"]] == whole["results"]
    assert {page["total_runs"] for page in pages} == {4}
    assert (pages[0]["next"] is None, pages[1]["next"], pages[1]["previous"] is None) == (False, None, False)


@pytest.mark.field("B43")
async def test_an_export_has_every_memory(ana: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime_svc.handlers.mem0_extras._PAGE", 2)
    for n in range(5):
        await ana.add(f"Fact {n}")
    asked = {"schema": {"properties": {"facts": {"type": "array"}}}, "filters": MINE}
    await ana.call("POST", "/v1/exports/", json=asked, status=201)

    view = await ana.call("POST", "/v1/exports/get/", json={})
    assert view["facts"] == [f"Fact {n}" for n in (4, 3, 2, 1, 0)]
    monkeypatch.setattr("runtime_svc.handlers.mem0_extras._MOST", 4)
    refused = await ana.call("POST", "/v1/exports/get/", json={}, status=400)
    assert refused["detail"] == "An export holds at most 4 memories, not 5: narrow its filters."


async def test_an_export_is_fetched_by_the_filters_it_was_asked_for_with(ana: Program) -> None:
    await ana.add("I love tea", run_id="r1")
    await ana.add("I love jam", run_id="r2")
    for filters in ({"AND": [{"user_id": "ana"}, {"run_id": "r1"}]}, {"run_id": "r2"}):
        body = {"schema": {"properties": {"likes": {"type": "array"}}}, "filters": filters}
        await ana.call("POST", "/v1/exports/", json=body, status=201)

    for asked, likes in (
        ({"filters": {"user_id": "ana", "run_id": "r1"}}, ["I love tea"]),
        ({"run_id": "r2"}, ["I love jam"]),
        ({}, ["I love jam"]),
    ):
        assert (await ana.call("POST", "/v1/exports/get/", json=asked))["likes"] == likes
    await ana.call("POST", "/v1/exports/get/", json={"run_id": "r3"}, status=404)
    await ana.call("POST", "/v1/exports/get/", json={"filters": {"made_up": 1}}, status=400)


async def test_the_project_keeps_what_it_knows_and_leaves_out_the_rest(ana: Program) -> None:
    path = "/api/v1/orgs/organizations/runtime-memory/projects/default/"
    kept = {"agent_custom_instructions": "Only tools.", "multilingual": True}
    unknown = {"decay": True, "retrieval_criteria": [{"name": "joy"}], "memory_depth": "deep"}
    await ana.call("PATCH", path, json={**kept, **unknown, "description": "new"})

    view = await ana.call("GET", path)
    assert {name: view[name] for name in kept} == kept
    assert view["description"] == "new"
    assert not unknown.keys() & view.keys()


async def test_an_add_with_a_schema_for_what_is_learned_is_learned_as_words(ana: Program) -> None:
    body = {**said(), "infer": False, "structured_data_schema": {"type": "object"}}
    await ana.call("POST", "/v3/memories/add/", json=body)

    assert len(await ana.listed(MINE)) == 1


def test_an_agents_instructions_are_for_what_is_the_agents() -> None:
    project = {"custom_instructions": "Only food.", "agent_custom_instructions": "Only tools.", "multilingual": True}
    language = "Write each fact in the language in which it was said."

    def told(ids: dict[str, str], **more: Any) -> str | None:
        return lesson(Adding(messages="x", **more), ids, project).instructions

    assert told({"user_id": "ana"}) == f"Only food.\n{language}"
    assert told({"agent_id": "a"}) == f"Only tools.\n{language}"
    assert told({"agent_id": "a"}, agent_custom_instructions="Only errors.") == f"Only errors.\n{language}"
    assert (
        told({"user_id": "ana", "agent_id": "a"}) == f"Only food.\nOf what the assistant says: Only tools.\n{language}"
    )


async def test_a_value_of_the_wrong_kind_is_refused_in_words_of_the_request(ana: Program) -> None:
    for method, path, body, sentence in (
        ("POST", "/v3/memories/add/", said(messages=None), "messages: Input should be text or an object or a list."),
        ("POST", "/v3/memories/add/", said(messages=[{"content": "x"}, 5]), "messages.1: Input should be an object."),
        (
            "POST",
            "/v3/memories/add/",
            said(timestamp=True),
            "timestamp: Input should be a whole number or a number or text.",
        ),
        ("POST", "/v3/memories/search/", {"query": 5}, "query: Input should be text."),
        ("POST", "/v3/memories/search/", {"query": "x", "rerank": 1}, "rerank: Input should be true or false."),
        (
            "POST",
            "/v3/memories/search/",
            {"query": "x", "top_k": 0},
            "top_k: Input should be greater than or equal to 1.",
        ),
        ("PUT", "/v1/batch/", {"memories": ["x"]}, "Each of memories is an object with a memory_id."),
        ("PUT", "/v1/batch/", {"memories": [{"text": "x"}]}, "memory_id: Field required."),
    ):
        assert (await ana.call(method, path, json=body, status=400))["detail"] == sentence


@pytest.mark.parametrize("version", ["v1", "v2"])
async def test_an_entity_named_any_is_none_and_nothing_is_forgotten(ana: Program, version: str) -> None:
    await ana.add("I love tea", run_id="r1")
    for kind in ("user", "app", "run", "agent"):
        for path in (f"/{version}/entities/{kind}/*/", f"/{version}/entities/{kind}/%2A"):
            await ana.call("DELETE", path, status=400)

    assert await ana.listed(MINE) == ["I love tea"]
