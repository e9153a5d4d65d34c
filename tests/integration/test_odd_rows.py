"""Rows that another client wrote into the table, with values that no client of ours would: every door still reads."""

from __future__ import annotations

import uuid
from typing import Any

import asyncpg
import orjson
import pytest

from tests.services import Service

ODD: list[dict[str, Any]] = [
    {"categories": 5, "created_at": "yesterday", "updated_at": "never"},
    {"categories": {"a": 1}, "created_at": 7, "updated_at": [1], "expiration_date": 7},
    {"categories": "food", "run_id": 12, "immutable": "yes", "hash": 3, "role": 4, "actor_id": {}},
    {"inner_agent": 5, "corrected_by": [], "corrected_at": {}, "vector_of": 1, "text_lemmatized": 9},
    {"state_unit": 3, "metadata": None, "words_version": "x"},
    {"state_unit": {"kind": "x", "created": 5}},
    {"data": 5},
    {"data": None},
]

READS: list[tuple[str, str, dict[str, Any] | None]] = [
    ("GET", "/api/v1/apps/memories/one", None),
    ("POST", "/api/v1/apps/memories/one/search", {"query": "tea"}),
    ("POST", "/api/v1/apps/memories/one/recall", {"query": "tea"}),
    ("GET", "/api/v1/apps/memory-applications", None),
    ("POST", "/api/v1/llm/gateway/list-memories", {}),
    ("POST", "/api/v1/llm/gateway/search-memories", {"query": "tea yesterday"}),
    ("GET", "/v1/memories/?user_id=owner-1", None),
    ("POST", "/v2/memories/", {"filters": {"user_id": "*"}}),
    ("POST", "/v3/memories/", {"filters": {"OR": [{"app_id": "one"}, {"categories": {"contains": "x"}}]}}),
    ("POST", "/v3/memories/search/", {"query": "tea", "filters": {"app_id": "one"}, "threshold": 0}),
    ("GET", "/v1/entities/", None),
    ("POST", "/v1/summary/", {"filters": {"app_id": "one"}}),
]


@pytest.mark.parametrize("odd", ODD, ids="-".join)
async def test_an_odd_row_keeps_no_door_from_reading(
    runtime: Service, platform: Service, database: str, odd: dict[str, Any]
) -> None:
    await runtime.post("/api/v1/apps/memories/one", json={"memory": "Likes tea", "wait": True})
    payload = {"data": "Drinks tea", "user_id": "owner-1", "agent_id": "app:one", **odd}
    odd_id = uuid.uuid4()
    connection = await asyncpg.connect(database)
    await connection.execute(
        "INSERT INTO agent_memories (id, vector, payload) SELECT $1, vector, $2::jsonb FROM agent_memories LIMIT 1",
        odd_id,
        orjson.dumps(payload).decode(),
    )
    await connection.close()

    for method, path, body in READS:
        status, said = await runtime.call(method, path, json=body)
        assert status == 200, (path, said)
    for path in ("/api/runtimes/v1/memories", f"/api/runtimes/v1/memories/{odd_id}", "/api/memory/state"):
        status, said = await platform.get(path)
        assert status == 200, (path, said)
    assert (await runtime.get(f"/v1/memories/{odd_id}/"))[0] == 200
    assert (await platform.get("/api/runtimes/v1/memories", params={"q": "tea"}))[0] == 200
    status, said = await platform.patch(f"/api/runtimes/v1/memories/{odd_id}", json={"memory": "Drinks coffee"})
    assert status == 200, said
    assert (await runtime.delete(f"/api/v1/apps/memories/one/{odd_id}"))[0] == 200
