"""A limit means the same on every list and search: what cannot be one is refused, nothing is quietly another number."""

from __future__ import annotations

import pytest

from tests.services import Service

APP = "/api/v1/apps/memories/desk"


@pytest.mark.field("B40")
async def test_a_limit_that_cannot_be_one_is_refused_on_lists_and_searches(
    runtime: Service, platforms: list[Service]
) -> None:
    for n in range(3):
        await runtime.post(APP, json={"memory": f"Fact {n}", "wait": True}, uid="ana")
    for limit in ("0", "-1", "1000000000", "abc", "1.5", "", "1e2", "٣"):
        lists = [(runtime, APP), *((platform, "/api/runtimes/v1/memories") for platform in platforms)]
        for service, path in lists:
            status, said = await service.get(path, params={"limit": limit}, uid="ana")
            assert status == (422 if limit else 200), (path, limit, said)
    for number in (0, -1, 10**9, "abc", 1.5, None, True):
        for path, refused in ((f"{APP}/search", 422), (f"{APP}/recall", 422), ("/api/v1/llm/gateway/search-memories", 400)):  # fmt: skip
            status, said = await runtime.post(path, json={"query": "fact", "limit": number}, uid="ana")
            assert status == refused, (path, number, said)
        mem0 = {"query": "fact", "top_k": number, "filters": {"app_id": "desk"}}
        status, _ = await runtime.post("/v2/memories/search/", json=mem0, uid="ana")
        assert status == (200 if number is None else 400), number

    status, said = await runtime.post(f"{APP}/search", json={"query": "fact", "limit": 2}, uid="ana")
    assert (status, len(said["memories"])) == (200, 2)
