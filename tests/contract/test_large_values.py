"""What one person keeps beside their memories is bounded: reading it back must not take the process from everybody."""

from __future__ import annotations

from typing import Any

import pytest

from shared.payloads import LARGEST_METADATA
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
