"""Typed data memory: documents per person, application and type, with revisions and schemas."""

from __future__ import annotations

from typing import Any

import pytest

from tests.services import Service

DATA = "/api/v1/apps/memory-data/app-1"
FACTS = f"{DATA}/org.example.UserFacts"
SCHEMA = {
    "type": "object",
    "required": ["facts"],
    "properties": {"facts": {"type": "array", "items": {"$ref": "#/$defs/fact"}, "uniqueItems": True}},
    "$defs": {"fact": {"type": "string", "minLength": 1}},
}


@pytest.fixture
def runtime(engine_service: Service) -> Service:
    """On each engine in turn."""
    return engine_service


async def put(runtime: Service, data: Any, path: str = FACTS, uid: str = "p1") -> tuple[int, Any]:
    return await runtime.put(path, json={"data": data}, uid=uid)


async def test_each_write_is_a_new_revision_that_says_who_and_when(runtime: Service) -> None:
    for number, data in enumerate(({"facts": ["🍵"]}, [1, 2.5, None], "text"), 1):
        status, said = await put(runtime, data)
        assert (status, said["revision"], said["data"], said["by"]) == (200, number, data, "p1")

    status, said = await runtime.get(FACTS, uid="p1")
    assert (status, said["data"], said["revision"], said["type"]) == (200, "text", 3, "org.example.UserFacts")
    assert [one["data"] for one in said["revisions"]] == [{"facts": ["🍵"]}, [1, 2.5, None], "text"]
    assert all(one["created"].endswith("Z") and one["by"] == "p1" for one in said["revisions"])
    assert await runtime.get(DATA, uid="p1") == (
        200,
        {"app": "app-1", "count": 1, "types": ["org.example.UserFacts"]},
    )


async def test_forgotten_it_is_gone_with_every_revision(runtime: Service) -> None:
    await put(runtime, {"a": 1})
    await put(runtime, {"a": 2})

    assert await runtime.delete(FACTS, uid="p1") == (200, {"forgotten": 1})
    assert (await runtime.get(FACTS, uid="p1"))[0] == 404
    assert (await runtime.delete(FACTS, uid="p1"))[0] == 404
    assert (await put(runtime, {"a": 3}))[1]["revision"] == 1
    status, said = await runtime.get("/api/v1/apps/memory-receipts", uid="p1")
    assert (status, said["receipts"][0]["verb"], said["receipts"][0]["forgotten"]) == (200, "forget", 1)


async def test_each_person_and_each_application_has_its_own(runtime: Service) -> None:
    await put(runtime, "mine")

    for path, uid in ((FACTS, "p2"), (FACTS.replace("app-1", "app-2"), "p1"), (FACTS.upper().lower(), "P1")):
        assert (await runtime.get(path, uid=uid))[0] == 404
        assert (await runtime.delete(path, uid=uid))[0] == 404
    assert (await runtime.get(FACTS, uid="p1"))[1]["data"] == "mine"


async def test_forget_all_of_memories_leaves_typed_data(runtime: Service) -> None:
    await put(runtime, "mine")

    assert (await runtime.delete("/api/v1/apps/memories/app-1", params={"count": 0}, uid="p1"))[0] == 200

    assert (await runtime.get(FACTS, uid="p1"))[1]["data"] == "mine"


@pytest.mark.parametrize(
    "data",
    [None, {"a": "\0"}, {"a": "\ud800"}, {"\0": 1}, 2**70, "x" * 70_000, [[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]],
)
async def test_what_cannot_be_kept_is_refused(runtime: Service, data: Any) -> None:
    status, said = await put(runtime, data)

    assert (status, said["code"]) == (422, "bad_value")
    assert (await runtime.get(FACTS, uid="p1"))[0] == 404


@pytest.mark.parametrize("name", ["%20", "a%2Fb", "*", "%00", "x" * 256])
async def test_a_type_that_cannot_be_named_is_refused(runtime: Service, name: str) -> None:
    for method in ("GET", "DELETE", "PUT"):
        more = {"json": {"data": 1}} if method == "PUT" else {}
        assert (await runtime.call(method, f"{DATA}/{name}", **more))[0] == 422


async def test_data_that_does_not_fit_its_schema_is_refused_with_the_path_of_the_fault(runtime: Service) -> None:
    assert (await put(runtime, {"facts": [""]}))[0] == 200
    assert (await runtime.put(f"{FACTS}/schema", json={"schema": SCHEMA}, uid="p1"))[0] == 200
    assert (await runtime.get(f"{FACTS}/schema", uid="p1"))[1]["schema"] == SCHEMA

    for data, path in (
        ([], "$"),
        ({"facts": ["a", 5]}, "$.facts[1]"),
        ({"facts": ["a", ""]}, "$.facts[1]"),
        ({"facts": ["a", "a"]}, "$.facts"),
    ):
        status, said = await put(runtime, data)
        assert (status, said["at"]) == (422, path)
        assert path in said["detail"]
    assert (await put(runtime, {"facts": ["a"]}))[0] == 200
    assert (await runtime.get(f"{FACTS}/schema", uid="p2"))[0] == 404

    assert (await runtime.delete(f"{FACTS}/schema", uid="p1"))[0] == 200
    assert (await runtime.delete(f"{FACTS}/schema", uid="p1"))[0] == 404
    assert (await put(runtime, []))[0] == 200
