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
