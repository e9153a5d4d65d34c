"""How many are asked for, and what a body is: read as it is meant or refused in a sentence, at every door."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import product
from typing import Any

import pytest

from runtime_svc.keys import EMBEDDER
from tests.acceptance.mem0_key import program
from tests.services import Service, bearer

APP = "/api/v1/apps/memories/desk"
GATEWAY = "/api/v1/llm/gateway"
JSON = {"Content-Type": "application/json"}
WITHIN = {"filters": {"app_id": "desk"}}
AMOUNTS: list[Any] = [0, -1, 10**9, 1.5, "abc", "", None, True, [5], 2**70, "5; DROP TABLE memories"]


async def refused(service: Service, method: str, path: str, status: set[int], **more: Any) -> None:
    got, said = await service.call(method, path, uid="ana", **more)
    assert got in status, (method, path, more, said)
    assert said["detail"] == said["error"] == said["message"]


@pytest.mark.field("B40")
async def test_an_amount_is_what_there_is_or_refused_alike_for_lists_and_searches(
    runtime: Service, platforms: list[Service]
) -> None:
    for n in range(3):
        await runtime.post(APP, uid="ana", json={"memory": f"Fact {n}", "wait": True})
    lists = [(runtime, APP, {422}), *((one, "/api/runtimes/v1/memories", {422}) for one in platforms)]
    for (service, path, status), amount in product(lists, (*AMOUNTS[:5], 2**70, "٥", "+5", "1_0")):
        await refused(service, "GET", path, status, params={"limit": str(amount)})
    bodies = [
        (f"{APP}/search", "limit", {"query": "fact"}, {422}),
        (f"{APP}/recall", "limit", {"query": "fact"}, {422}),
        (f"{GATEWAY}/search-memories", "limit", {"query": "fact"}, {400}),
        (f"{GATEWAY}/list-memories", "page_size", {}, {400}),
        ("/v2/memories/", "page_size", WITHIN, {400}),
        ("/v3/memories/", "page_size", WITHIN, {400}),
        ("/v3/memories/search/", "top_k", {"query": "fact", **WITHIN}, {400}),
    ]
    for (path, name, body, status), amount in product(bodies, AMOUNTS):
        if amount is None and path.startswith("/v"):
            continue  # its clients send null for what they leave open
        await refused(runtime, "POST", path, status, json={**body, name: amount})
    for path, name, body, _ in bodies:
        got, said = await runtime.post(path, uid="ana", json={**body, name: 2})
        found = said if isinstance(said, list) else said.get("memories", said.get("results"))
        assert (got, len(found)) == (200, 2), (path, said)


async def five_megabytes() -> AsyncIterator[bytes]:
    yield b'{"memory": "'
    for _ in range(80):
        yield b"x" * 65_536
    yield b'"}'


BODIES: list[tuple[bytes, dict[str, str], set[int]]] = [
    (b"[]", JSON, {400}),
    (b"null", JSON, {400}),
    (b'"x"', JSON, {400}),
    (b"{bad", JSON, {400}),
    (b'{"a": 1, "a": 2}', JSON, {400}),
    (b'{"memory": NaN}', JSON, {400}),
    (b"\xff\xfe{}", JSON, {400}),
    (b"[" * 100_000, JSON, {400}),
    (b"", JSON, {400, 422}),
    (b"{}", {"Content-Type": "text/plain"}, {415}),
    (b"memory=x", {"Content-Type": "application/x-www-form-urlencoded"}, {415}),
]


@pytest.mark.field("B83")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", APP),
        ("POST", f"{APP}/search"),
        ("PATCH", f"{APP}/3fa85f64-5717-4562-b3fc-2c963f66afa6"),
        ("PUT", "/api/v1/apps/memory-data/desk/Facts"),
        ("POST", f"{GATEWAY}/search-memories"),
        ("POST", "/v1/memories/"),
        ("POST", "/v3/memories/search/"),
    ],
)
async def test_a_body_that_cannot_be_read_is_refused_for_what_it_is(runtime: Service, method: str, path: str) -> None:
    headers = {**bearer("ana"), **JSON}

    got, said = await runtime.call(method, path, uid=None, data=five_megabytes(), headers=headers)

    assert (got, said["code"]) == (413, "request_entity_too_large")
    for raw, kind, status in BODIES:
        await refused(runtime, method, path, status, data=raw, headers=kind)
    assert (await runtime.get(APP, uid="ana"))[1]["total"] == 0


@pytest.mark.field("S13")
async def test_what_leaves_the_words_as_they_are_needs_no_embedder(runtime: Service) -> None:
    _, said = await runtime.post(APP, uid="ana", json={"memory": "Likes tea", "wait": True})
    memory_id = said["results"][0]["id"]
    _, before = await runtime.get(f"{APP}/{memory_id}", uid="ana")
    ana = await program(runtime)
    await runtime.client.app[EMBEDDER].close()

    got, same = await runtime.patch(f"{APP}/{memory_id}", uid="ana", json={"memory": " Likes  tea "})
    assert (got, same["memory"]) == (200, before["memory"])
    after = await ana.call(
        "PUT", f"/v1/memories/{memory_id}/", json={"text": "Likes tea", "metadata": {"mood": "calm"}}
    )
    assert (after["memory"], after["metadata"]) == ("Likes tea", {"mood": "calm"})
    assert after["updated_at"] > before["memory"]["updated_at"]
    assert after["created_at"] == before["memory"]["created_at"]
    assert (await runtime.patch(f"{APP}/{memory_id}", uid="ana", json={"memory": "Likes jam"}))[0] == 503
    assert (await runtime.get(f"{APP}/{memory_id}", uid="ana"))[1]["memory"]["memory"] == "Likes tea"
