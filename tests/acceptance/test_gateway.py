"""The gateway dialect: contract 003's own requests, with only host and credential changed."""

from __future__ import annotations

import itertools
import json
import re
import shlex
from pathlib import Path

import pytest

from tests.acceptance.test_first_slice import APP, learn
from tests.services import Service

G = "/api/v1/llm/gateway"
COMMANDS = Path(__file__).parent / "contract_003_commands.sh"
ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def commands() -> list[tuple[str, dict[str, str], dict[str, object]]]:
    """Path, headers and body of each curl command of the contract."""
    found = []
    for command in COMMANDS.read_text("utf-8").replace("\\\n", " ").split("\n\n"):
        words = shlex.split(command)
        path = next(word for word in words if word.startswith("https://")).removeprefix("https://api.yocaso.dev")
        headers = dict(word.split(": ", 1) for flag, word in itertools.pairwise(words) if flag == "-H")
        body = next(word for flag, word in itertools.pairwise(words) if flag == "-d")
        found.append((path, headers, json.loads(body)))
    return found


async def test_the_contracts_own_commands_answer_with_the_contracts_members(runtime: Service) -> None:
    await learn(runtime, "User is vegetarian and avoids gluten", "User prefers meals under 500 calories", uid="p1")
    _, listed = await runtime.post(f"{G}/list-memories", json={}, uid="p1")
    mine = {"mem_abc123": listed["memories"][0]["id"]}
    members = {
        "search-memories": {"memories"},
        "list-memories": {"memories", "page", "page_size", "total", "has_more"},
        "get-memory": {"memory", "id", "created_at", "updated_at"},
        "update-memory": {"id", "memory", "created_at", "updated_at"},
        "delete-memory": {"message", "deleted"},
        "delete-all-memories": {"message", "deleted"},
    }
    asked = [one for one in commands() if "X-On-Behalf-Of" not in one[1]]
    assert len(asked) == 6
    for path, _, body in asked:
        known = {key: mine.get(str(value), value) for key, value in body.items()}
        status, said = await runtime.post(path, json=known, uid="p1")
        assert status == 200, (path, said)
        assert members[path.rsplit("/", 1)[1]] <= said.keys()

    _, left = await runtime.post(f"{G}/list-memories", json={}, uid="p1")
    assert left["memories"] == []


async def test_search_ranks_by_meaning_with_scores_and_whole_seconds(runtime: Service) -> None:
    await learn(runtime, "User is vegetarian and avoids gluten", "User plays the cello", uid="p1")

    status, said = await runtime.post(f"{G}/search-memories", json={"query": "dietary preferences"}, uid="p1")

    assert status == 200
    first = said["memories"][0]
    assert first["memory"] == "User is vegetarian and avoids gluten"
    assert first["id"].startswith("mem_")
    assert 0 <= first["score"] <= 1
    assert ISO.fullmatch(first["created_at"])
    assert first["created_at"] == first["updated_at"]


async def test_the_same_memories_through_every_door(runtime: Service, platform: Service) -> None:
    [native] = await learn(runtime, "User plays the cello", uid="p1")
    _, listed = await runtime.post(f"{G}/list-memories", json={"app_id": "app-1"}, uid="p1")
    [found] = listed["memories"]
    assert found["id"] == f"mem_{native.replace('-', '')}"

    _, changed = await runtime.post(
        f"{G}/update-memory", json={"memory_id": found["id"], "memory": "User plays the viola"}, uid="p1"
    )
    _, on_platform = await platform.get(f"/api/runtimes/v1/memories/{native}", uid="p1")
    _, history = await runtime.get(f"{APP}/{native}/history", uid="p1")

    assert changed["memory"] == on_platform["memory"]["memory"] == "User plays the viola"
    assert [(one["event"], one["door"]) for one in history["history"]] == [("ADD", "apps"), ("UPDATE", "gateway")]
    _, gone = await runtime.post(f"{G}/delete-all-memories", json={}, uid="p1")
    assert gone["deleted"] == 1
    for service, path in ((runtime, "/api/v1/apps"), (platform, "/api/runtimes/v1")):
        _, receipts = await service.get(f"{path}/memory-receipts", uid="p1")
        [receipt] = receipts["receipts"]
        assert (receipt["verb"], receipt["forgotten"], receipt["door"]) == ("forget_all", 1, "gateway")
        assert "viola" not in json.dumps(receipts)


async def test_pages_of_a_list_say_whether_there_is_more(runtime: Service) -> None:
    await learn(runtime, *(f"Fact {n}" for n in range(5)), uid="p1")

    pages = [
        (await runtime.post(f"{G}/list-memories", json={"page": n, "page_size": 2}, uid="p1"))[1] for n in (1, 2, 3, 4)
    ]

    assert [page["has_more"] for page in pages] == [True, True, False, False]
    assert [m["memory"] for page in pages for m in page["memories"]] == [f"Fact {n}" for n in reversed(range(5))]
    assert {page["total"] for page in pages} == {5}


@pytest.mark.parametrize(
    ("verb", "body", "status"),
    [
        ("search-memories", {}, 400),
        ("search-memories", {"query": "  "}, 400),
        ("search-memories", {"query": 5}, 400),
        ("search-memories", {"query": "x", "limit": 0}, 400),
        ("search-memories", {"query": "x", "threshold": 2}, 400),
        ("search-memories", {"query": "x", "app_id": "a b"}, 400),
        ("list-memories", {"page": 0}, 400),
        ("list-memories", {"page_size": 1e9}, 400),
        ("get-memory", {}, 400),
        ("get-memory", {"memory_id": "mem_abc123"}, 404),
        ("get-memory", {"memory_id": "00000000-0000-0000-0000-000000000000"}, 404),
        ("update-memory", {"memory_id": "mem_" + "0" * 32, "memory": "x"}, 404),
        ("update-memory", {"memory_id": "mem_" + "0" * 32, "memory": " "}, 400),
        ("delete-memory", {"memory_id": "*"}, 404),
        ("delete-memory", {"memory_id": None}, 400),
    ],
)
async def test_what_does_not_fit_is_a_sentence(
    runtime: Service, verb: str, body: dict[str, object], status: int
) -> None:
    got, said = await runtime.post(f"{G}/{verb}", json=body, uid="p1")

    assert got == status
    assert said["detail"] == said["error"] == said["message"]


async def test_somebody_elses_memory_is_not_found(runtime: Service) -> None:
    await learn(runtime, "User plays the cello", uid="p1")
    _, listed = await runtime.post(f"{G}/list-memories", json={}, uid="p1")
    theirs = listed["memories"][0]["id"]

    for verb, more in (("get-memory", {}), ("update-memory", {"memory": "x"}), ("delete-memory", {})):
        assert (await runtime.post(f"{G}/{verb}", json={"memory_id": theirs, **more}, uid="p2"))[0] == 404
    assert (await runtime.post(f"{G}/list-memories", json={}, uid="p1"))[1]["total"] == 1
    assert (await runtime.post(f"{G}/list-memories", json={}, uid=None))[0] == 401
