"""What a released mem0 client asks for is done, or refused in a sentence: never quietly left out."""

from __future__ import annotations

from typing import Any

import pytest

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
        ("POST", "/v3/memories/add/", said(), "structured_data_schema"),
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
