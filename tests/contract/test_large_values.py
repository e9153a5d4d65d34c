"""What one person keeps beside their memories is bounded: reading it back must not take the process from everybody."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from shared.http.keys import CLIENT_RECORDS
from shared.payloads import LARGEST_METADATA
from shared.scope import Everything
from tests.acceptance.mem0_key import program
from tests.services import Service, bearer

APP = "/api/v1/apps/memories/desk"


def metadata(size: int) -> dict[str, Any]:
    """Metadata of so many bytes of JSON."""
    return {"note": "n" * (size - len('{"note":""}'))}


async def test_metadata_beside_a_memory_is_bounded(runtime: Service) -> None:
    fits = {"memory": "Likes tea", "metadata": metadata(LARGEST_METADATA), "wait": True}
    assert (await runtime.post(APP, json=fits))[0] == 200

    for wait in (True, False):
        too_much = {"memory": "Likes jam", "metadata": metadata(LARGEST_METADATA + 1), "wait": wait}
        status, said = await runtime.post(APP, json=too_much)
        assert (status, said["detail"]) == (422, "metadata is at most 16 KiB.")


async def test_metadata_does_not_grow_by_updates(runtime: Service) -> None:
    ana = await program(runtime)
    tea = await ana.add("Likes tea", app_id="desk", metadata=metadata(LARGEST_METADATA // 2))
    path = f"/v1/memories/{tea['id']}/"

    more = {"metadata": {"more": "m" * (LARGEST_METADATA // 2)}}
    assert (await ana.call("PUT", path, json=more, status=400))["detail"] == "metadata is at most 16 KiB."
    await ana.call("PUT", path, json={"metadata": {"note": None, "more": "m" * (LARGEST_METADATA // 2)}})


@pytest.mark.parametrize("name", ["run_id", "agent_id"])
async def test_an_id_beside_a_memory_is_bounded(runtime: Service, name: str) -> None:
    ana = await program(runtime)
    said = {"messages": "Likes tea", "app_id": "desk", "infer": False}

    assert (await ana.call("POST", "/v1/memories/", json={**said, name: "r" * 256}, status=400))["detail"]
    await ana.call("POST", "/v1/memories/", json={**said, name: "r" * 255})


async def test_an_export_that_is_asked_for_is_bounded(runtime: Service) -> None:
    ana = await program(runtime)
    fits = {"schema": {"title": "s" * 60_000}, "filters": {"AND": [{"app_id": "f" * 200}] * 50}}
    large = [
        fits | {"schema": {"title": "s" * 70_000}},
        fits | {"filters": {"AND": [{"app_id": "f" * 200}] * 80}},
        fits | {"schema": json.dumps({"title": "s" * 70_000})},
    ]

    await ana.call("POST", "/v1/exports/", json=fits, status=201)
    for one in large:
        assert "is at most" in (await ana.call("POST", "/v1/exports/", json=one, status=400))["detail"]


async def test_the_oldest_export_makes_room_for_a_new_one(runtime: Service) -> None:
    ana = await program(runtime)
    asked = {"schema": {"properties": {}}, "filters": {"app_id": "desk"}}
    made = [(await ana.call("POST", "/v1/exports/", json=asked, status=201))["id"] for _ in range(102)]

    for export_id, status in ((made[0], 404), (made[1], 404), (made[2], 200), (made[-1], 200)):
        await ana.call("POST", "/v1/exports/get/", json={"memory_export_id": export_id}, status=status)
    records = runtime.client.app[CLIENT_RECORDS]
    assert [one.id for one in await records.of(Everything("ana"), "export")] == made[2:]


async def test_what_a_client_says_in_an_idempotency_key_does_not_outlive_what_is_forgotten(
    runtime: Service, dsn: str | None, tmp_path: Path
) -> None:
    headers = {"Idempotency-Key": "zanzibar-key"}
    _, first = await runtime.post(APP, json={"memory": "Likes tea"}, uid="ana", headers=headers)
    _, again = await runtime.post(APP, json={"memory": "Likes tea"}, uid="ana", headers=headers)
    assert again["event_id"] == first["event_id"]

    if dsn is None:
        files = [path.read_bytes() for path in (tmp_path / "store").iterdir()]
    else:
        connection = await asyncpg.connect(dsn)
        rows = await connection.fetch("SELECT e::text FROM runtime_memory.events AS e")
        await connection.close()
        files = [repr(rows).encode()]
    assert first["event_id"].encode() in b"".join(files)
    assert b"zanzibar" not in b"".join(files)


@pytest.mark.parametrize("depth", [300, 600, 900])
@pytest.mark.parametrize("escape", ["\\u0041", "\\u0000"])
async def test_a_deeply_nested_body_with_escapes_is_refused_in_a_sentence(
    services: list[Service], depth: int, escape: str
) -> None:
    raw = '{"memory": "x", "query": "x", "metadata": {"a": ' + "[" * depth + f'"{escape}"' + "]" * depth + "}}"
    headers = {"Content-Type": "application/json", **bearer("ana")}
    paths = [APP, f"{APP}/search", "/v1/memories/", "/v2/memories/search/"]
    asked = [(services[0], path) for path in paths] + [(one, "/api/runtimes/v1/memory-shares") for one in services[1:]]
    for service, path in asked:
        method = "PUT" if path.endswith("shares") else "POST"
        status, said = await service.call(method, path, uid=None, data=raw, headers=headers)
        assert status < 500, (path, said)


@pytest.mark.parametrize("what", ["a memory", "a revision", "values"])
async def test_a_document_that_could_not_be_read_back_is_not_taken_in(
    runtime: Service, platforms: list[Service], what: str
) -> None:
    created = "2026-01-01T00:00:00Z"
    data: list[Any] = []
    units: list[Any] = []
    match what:
        case "a memory":
            units = [{"id": "u", "text": "Likes tea", "created": created, "data": ["d" * 300_000]}]
        case "a revision":
            data = [{"id": "user:ana/t", "revisions": [{"created": created, "data": ["d" * 66_000]}]}]
        case _:
            data = [{"id": "user:ana/t", "revisions": [{"created": created, "data": [[]] * 510_000}]}]
    document = {"id": "8f2f2c0e-5f0a-4f9e-9d7b-0c7a8a1f6b11", "userId": "ana", "created": created}
    document |= {
        "dataMemoryUnits": data,
        "shortTermMemoryUnits": [],
        "sessionMemoryUnits": [],
        "userMemoryUnits": units,
    }
    raw = io.BytesIO(json.dumps(document).encode())
    whole = (platforms or [runtime])[0]

    status, said = await whole.post(
        "/api/memory/states", uid="ana", data=raw, headers={"Content-Type": "application/json"}
    )

    assert (status, said["code"]) == (413, "too_large"), said
    assert said["detail"].endswith("Nothing was taken in.")
    assert (await whole.get("/api/memory/states", uid="ana"))[1]["total"] == 0
