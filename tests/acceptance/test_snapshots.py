"""A person's whole memory through both services: saved, shown, restored, erased, exported and taken in (contract 002)."""

from __future__ import annotations

import asyncio
import copy
import io
import json
import uuid
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.acceptance.test_api_keys import impersonating, key_headers, made
from tests.services import Service, bearer, start_platform

APP = "/api/v1/apps/memories/"
DATA = "/api/v1/apps/memory-data/"
STATE = "/api/memory/state"
STATES = "/api/memory/states"
UNITS = ("dataMemoryUnits", "shortTermMemoryUnits", "sessionMemoryUnits", "userMemoryUnits")
MEMBERS = ("id", "userId", "created", *UNITS, "graphNodes", "graphRelationships")

PERSON = "5c8a0f12-7d34-4e56-9a1b-2c3d4e5f6a7b"
EXAMPLE: dict[str, Any] = {
    "id": "0f1e2d3c-4b5a-4968-8776-655443322110",
    "userId": PERSON,
    "created": "2026-09-09T14:35:12.008Z",
    "dataMemoryUnits": [
        {
            "id": "user:5c8a0f12…/ai.promethist.engine.model.UserFacts",
            "revisions": [
                {"data": {"facts": ["prefers morning appointments"]}, "created": "2026-09-02T10:00:00.000Z"},
                {
                    "data": {"facts": ["prefers morning appointments", "parks on level 2"]},
                    "created": "2026-09-09T14:31:00.000Z",
                },
            ],
        }
    ],
    "shortTermMemoryUnits": [],
    "sessionMemoryUnits": [
        {
            "id": "3fa85f64-5717-4562-b3fc-2c963f66afa6/session",
            "created": "2026-09-09T14:31:07.412+02:00",
            "turnId": "c3a9d1ef-2d3c-4c9f-9b5f-0e8a2b7d4f21",
            "sessionId": "3fa85f64-5717-4562-b3fc-2c963f66afa6",
            "userId": PERSON,
            "namespace": "session",
            "agentRef": "acme-support",
            "agentInfo": {"ref": "acme-support", "state": "Published", "revision": 5},
            "projectId": "8e29b3d1-6a4f-4c2e-9d70-1f2a3b4c5d6e",
            "tenantId": "1a2b3c4d-5e6f-4708-8912-a3b4c5d6e7f8",
            "text": "The user rescheduled an appointment and asked about parking.",
            "data": [],
        }
    ],
    "userMemoryUnits": [],
    "graphNodes": [],
    "graphRelationships": [],
}


@pytest.fixture
def runtime(engine_service: Service) -> Service:
    """On each engine in turn."""
    return engine_service


@pytest.fixture
async def platform(runtime: Service, request: pytest.FixtureRequest, database: str) -> AsyncIterator[Service]:
    """Where a person's whole memory is: the platform, or the runtime that has none beside it."""
    if request.node.callspec.params["engine_service"] == "local":
        yield runtime
        return
    service = await start_platform(database)
    yield service
    await service.client.close()


async def learn(runtime: Service, app: str, memory: str, *, uid: str = "p1", **more: Any) -> str:
    status, said = await runtime.post(APP + app, json={"memory": memory, "wait": True, **more}, uid=uid)
    assert status == 200, said
    return said["results"][0]["id"]


async def full_life(runtime: Service, uid: str = "p1") -> list[str]:
    """Memories of every kind in two applications, one corrected, and typed data."""
    ids = [
        await learn(runtime, "a", "User likes tea 🍵", uid=uid),
        await learn(
            runtime,
            "b",
            "User is called Vera",
            uid=uid,
            run_id="s-1",
            metadata={"turnId": "t-1", "project_id": "p-1", "x": {"y": [1.5]}},
        ),
        await learn(runtime, "a", "Short lived", uid=uid, expiration_date="2099-01-01"),
        await learn(runtime, "a", "Learned in 2024", uid=uid, timestamp="2024-02-03T04:05:06+02:00"),
    ]
    assert (await runtime.patch(f"{APP}a/{ids[0]}", json={"memory": "User likes green tea 🍵"}, uid=uid))[0] == 200
    for facts in (["x"], ["x", "y"]):
        assert (await runtime.put(f"{DATA}a/UserFacts", json={"data": {"facts": facts}}, uid=uid))[0] == 200
    return ids


async def seen(runtime: Service, platform: Service, uid: str = "p1") -> dict[str, Any]:
    """Everything that a person can see of themselves through the routes."""
    found: dict[str, Any] = {}
    for app in "ab":
        _, said = await runtime.get(APP + app, uid=uid)
        found[app] = said["memories"]
        for one in said["memories"]:
            _, history = await runtime.get(f"{APP}{app}/{one['id']}/history", uid=uid)
            found[one["id"]] = [{k: v for k, v in each.items() if k != "id"} for each in history["history"]]
        found[f"data-{app}"] = await runtime.get(f"{DATA}{app}/UserFacts", uid=uid)
    if platform is not runtime:
        found["listed"] = (await platform.get("/api/runtimes/v1/memories", uid=uid))[1]["memories"]
        assert {one["user_id"] for one in found["listed"]} <= {uid}
        found["shares"] = (await platform.get("/api/runtimes/v1/memory-shares", uid=uid))[1]["shares"]
    return found


def same_words_under_other_ids(one: dict[str, Any], other: dict[str, Any]) -> None:
    for app in "ab":
        assert [m["memory"] for m in one[app]] == [m["memory"] for m in other[app]]
        assert [m["created_at"] for m in one[app]] == [m["created_at"] for m in other[app]]
        assert not {m["id"] for m in one[app]} & {m["id"] for m in other[app]}


async def allow(platform: Service, runtime: Service) -> int:
    """One allowance, where there are any; how many."""
    if platform is runtime:
        return 0
    body = {"source": "app:a", "reader": "app:b"}
    assert (await platform.put("/api/runtimes/v1/memory-shares", json=body, uid="p1"))[0] == 200
    return 1


async def test_the_current_state_has_the_contracts_members_and_units_of_each_kind(
    runtime: Service, platform: Service
) -> None:
    ids = await full_life(runtime)

    status, said = await platform.get(STATE, uid="p1")

    assert status == 200
    assert all(name in said for name in MEMBERS)
    assert said["userId"] == "p1"
    assert [len(said[name]) for name in UNITS] == [1, 1, 1, 2]
    [session] = said["sessionMemoryUnits"]
    assert session == {
        "id": ids[1],
        "created": session["created"],
        "turnId": "t-1",
        "sessionId": "s-1",
        "userId": "p1",
        "namespace": "session",
        "agentRef": "b",
        "agentInfo": {"ref": "b"},
        "projectId": "p-1",
        "tenantId": None,
        "text": "User is called Vera",
        "data": [],
    }
    assert session["created"].endswith("Z")
    assert len(session["created"]) == 24
    [data] = said["dataMemoryUnits"]
    assert data["id"] == "user:p1/UserFacts"
    assert [one["data"] for one in data["revisions"]] == [{"facts": ["x"]}, {"facts": ["x", "y"]}]
    assert (said["graphNodes"], said["graphRelationships"]) == ([], [])


async def test_its_id_is_the_one_that_saving_gives_and_restoring_one_never_saved_is_not_found(
    runtime: Service, platform: Service
) -> None:
    await full_life(runtime)
    _, now = await platform.get(STATE, uid="p1")
    uuid.UUID(now["id"])

    status, said = await platform.post(f"{STATE}/{now['id']}", uid="p1")
    assert (status, said["code"]) == (404, "not_found")
    _, saved = await platform.post(STATE, uid="p1")
    assert saved["id"] == now["id"]
    assert {k: v for k, v in saved.items() if k in UNITS} == {k: v for k, v in now.items() if k in UNITS}
    _, again = await platform.post(STATE, uid="p1")
    assert again == saved
    _, listed = await platform.get(STATES, uid="p1")
    assert [one["id"] for one in listed["states"]] == [saved["id"]]
    assert listed["states"][0]["size"] > 0

    await learn(runtime, "a", "Something else")
    assert (await platform.get(STATE, uid="p1"))[1]["id"] != now["id"]


@pytest.mark.field("B47")
@pytest.mark.field("B103")
async def test_everything_comes_back_exactly_and_twice_is_the_same_as_once(runtime: Service, platform: Service) -> None:
    ids = await full_life(runtime)
    allowances = await allow(platform, runtime)
    before = await seen(runtime, platform)
    _, saved = await platform.post(STATE, uid="p1")

    status, said = await platform.post(f"{STATE}/{saved['id']}", uid="p1")
    assert (status, said["restored"]["replaced"]) == (200, 0)
    assert await seen(runtime, platform) == before
    await learn(runtime, "a", "later")
    await runtime.patch(f"{APP}a/{ids[0]}", json={"memory": "changed"}, uid="p1")
    await runtime.put(f"{DATA}a/UserFacts", json={"data": 3}, uid="p1")
    status, erased = await platform.delete("/api/memory", params={"allowances": "true"}, uid="p1")
    assert status == 200
    assert erased == {"forgotten": 5, "data": 1, "allowances": allowances, "snapshots": 0, "held_by_snapshots": 1}
    assert [(await runtime.get(APP + app, uid="p1"))[1]["count"] for app in "ab"] == [0, 0]
    assert (await runtime.get(f"{DATA}a/UserFacts", uid="p1"))[0] == 404

    for came_back in (4, 0):
        status, said = await platform.post(f"{STATE}/{saved['id']}", uid="p1")
        assert (status, said["restored"]["cameBack"]) == (200, came_back)
        assert {k: said[k] for k in MEMBERS} == {k: saved[k] for k in MEMBERS}
        assert await seen(runtime, platform) == before
    assert (await platform.get(STATE, uid="p1"))[1]["id"] == saved["id"]
    status, found = await runtime.post(f"{APP}a/search", json={"query": "beverage"}, uid="p1")
    assert found["memories"][0]["id"] == ids[0]


@pytest.mark.field("B104")
async def test_what_was_forgotten_since_comes_back_only_when_the_person_does_not_mind(
    runtime: Service, platform: Service
) -> None:
    ids = await full_life(runtime)
    _, saved = await platform.post(STATE, uid="p1")
    await runtime.delete(f"{APP}a/{ids[2]}", uid="p1")

    status, said = await platform.post(f"{STATE}/{saved['id']}", params={"respect_forgotten": "true"}, uid="p1")
    assert (status, said["restored"]) == (
        200,
        {"memories": 3, "cameBack": 0, "leftOut": 1, "replaced": 0, "notEmbedded": 0},
    )
    assert (await runtime.get(f"{APP}a/{ids[2]}", uid="p1"))[0] == 404
    _, said = await platform.post(f"{STATE}/{saved['id']}", uid="p1")
    assert said["restored"]["cameBack"] == 1
    assert (await runtime.get(f"{APP}a/{ids[2]}", uid="p1"))[0] == 200


async def test_another_persons_snapshot_is_not_found_and_another_persons_memory_refused(
    runtime: Service, platform: Service
) -> None:
    await full_life(runtime)
    _, saved = await platform.post(STATE, uid="p1")

    for method, path in (("GET", STATE), ("POST", STATE), ("DELETE", STATE)):
        theirs = await platform.call(method, f"{path}/{saved['id']}", uid="p2")
        assert theirs == await platform.call(method, f"{path}/{uuid.uuid4()}", uid="p2")
        assert theirs[0] == 404
    assert (await platform.get(STATES, uid="p2"))[1] == {"count": 0, "total": 0, "states": []}
    for method, path in (
        ("GET", STATE),
        ("POST", STATE),
        ("GET", STATES),
        ("DELETE", "/api/memory"),
        ("POST", f"{STATE}/{saved['id']}"),
    ):
        assert (await platform.call(method, path, uid="p2", params={"userId": "p1"}))[0] == 403
    assert (await runtime.get(f"{APP}a", uid="p1"))[1]["count"] == 3


async def test_an_administrator_reaches_another_person_and_it_is_on_record(runtime: Service, platform: Service) -> None:
    await full_life(runtime)
    admin = {"headers": bearer("root", roles=["platform_admin"]), "uid": None}

    status, saved = await platform.post(STATE, params={"userId": "p1"}, **admin)
    assert (status, saved["userId"], len(saved["userMemoryUnits"])) == (200, "p1", 2)
    assert (await platform.get(f"{STATE}/{saved['id']}", uid="p1"))[0] == 200
    await platform.delete("/api/memory", uid="p1")
    status, said = await platform.post(f"{STATE}/{saved['id']}", params={"userId": "p1"}, **admin)
    assert (status, said["restored"]["memories"]) == (200, 4)
    _, said = await runtime.get("/api/v1/apps/memory-access", uid="p1")
    assert [(one["actor"], one["verb"], one["door"], one["memories"]) for one in said["access"]] == [
        ("root", "restore", "state", 4),
        ("root", "save", "state", 4),
    ]


@pytest.mark.field("B13")
async def test_restored_into_another_person_every_memory_is_a_new_one_and_theirs(
    runtime: Service, platform: Service
) -> None:
    await full_life(runtime, uid="root")
    before = await seen(runtime, platform, uid="root")
    await learn(runtime, "a", "Of p2, replaced", uid="p2")
    admin = {"headers": bearer("root", roles=["platform_admin"]), "uid": None}
    _, saved = await platform.post(STATE, **admin)

    for _ in range(2):
        status, said = await platform.post(f"{STATE}/{saved['id']}", params={"userId": "p2"}, **admin)
        assert (status, said["userId"]) == (200, "p2")
    theirs = await seen(runtime, platform, uid="p2")
    same_words_under_other_ids(theirs, before)
    assert await seen(runtime, platform, uid="root") == before


async def test_the_contracts_example_taken_in_comes_out_equal(runtime: Service, platform: Service) -> None:
    status, said = await platform.post(STATES, json=EXAMPLE, uid=PERSON)
    assert (status, said["id"]) == (200, EXAMPLE["id"])

    for method in ("GET", "POST"):
        status, said = await platform.call(method, f"{STATE}/{EXAMPLE['id']}", uid=PERSON)
        assert status == 200
        assert {k: said[k] for k in EXAMPLE} == EXAMPLE
    assert said["restored"]["notEmbedded"] == 1
    _, now = await platform.get(STATE, uid=PERSON)
    assert now["sessionMemoryUnits"] == EXAMPLE["sessionMemoryUnits"]
    assert now["dataMemoryUnits"][0]["revisions"] == EXAMPLE["dataMemoryUnits"][0]["revisions"]
    _, found = await runtime.get(f"{APP}acme-support", uid=PERSON)
    assert [m["memory"] for m in found["memories"]] == [EXAMPLE["sessionMemoryUnits"][0]["text"]]
    assert found["memories"][0]["created_at"] == "2026-09-09T12:31:07.412000+00:00"
    assert "metadata" not in found["memories"][0]
    _, found = await runtime.post(f"{APP}acme-support/search", json={"query": "parking"}, uid=PERSON)
    assert found["count"] == 1


async def exported(platform: Service, state_id: str, uid: str = "p1") -> dict[str, Any]:
    status, said = await platform.get(f"{STATE}/{state_id}", params={"export": "true"}, uid=uid)
    assert status == 200
    return said


@pytest.mark.field("B103")
async def test_an_export_taken_in_again_restores_exactly(runtime: Service, platform: Service) -> None:
    await full_life(runtime)
    await allow(platform, runtime)
    before = await seen(runtime, platform)
    _, saved = await platform.post(STATE, uid="p1")
    document = await exported(platform, saved["id"])
    assert (await platform.post(STATES, json=document, uid="p1"))[0] == 200
    await platform.delete("/api/memory", params={"snapshots": "true", "allowances": "true"}, uid="p1")
    assert (await platform.get(STATES, uid="p1"))[1]["count"] == 0

    status, said = await platform.post(STATES, json=document, uid="p1")
    assert (status, said["id"]) == (200, saved["id"])
    await platform.post(f"{STATE}/{saved['id']}", uid="p1")

    assert await seen(runtime, platform) == before
    assert (await platform.get(STATE, uid="p1"))[1]["id"] == saved["id"]


@pytest.mark.field("B13")
@pytest.mark.field("B14")
async def test_an_export_of_one_person_taken_in_by_another_never_touches_the_first(
    runtime: Service, platform: Service
) -> None:
    await full_life(runtime)
    before = await seen(runtime, platform)
    _, saved = await platform.post(STATE, uid="p1")
    document = await exported(platform, saved["id"])

    assert (await platform.post(STATES, json=document, uid="p2"))[0] == 200
    for _ in range(2):
        status, said = await platform.post(f"{STATE}/{saved['id']}", uid="p2")
        assert (status, said["restored"]["memories"]) == (200, 4)
    theirs = await seen(runtime, platform, uid="p2")
    same_words_under_other_ids(theirs, before)
    assert await seen(runtime, platform) == before


def edits() -> list[tuple[Any, str]]:
    def edit(change: Any) -> Any:
        def apply(document: dict[str, Any]) -> bytes:
            changed = copy.deepcopy(document)
            change(changed)
            return json.dumps(changed).encode()

        return apply

    def words(d: dict[str, Any]) -> None:
        d["userMemoryUnits"][0]["text"] = "Something else"

    def record(d: dict[str, Any]) -> None:
        d["userMemoryUnits"][0]["memory"]["payload"]["data"] = "Something else"
        d["userMemoryUnits"][0]["text"] = "Something else"

    return [
        (edit(words), "words"),
        (edit(record), "record"),
        (edit(lambda d: d["userMemoryUnits"].pop()), "a unit less"),
        (edit(lambda d: d["userMemoryUnits"].append(d["userMemoryUnits"][0])), "a unit twice"),
        (edit(lambda d: d.update(checksum="0" * 64)), "checksum"),
        (edit(lambda d: d.pop("checksum")), "no checksum"),
        (edit(lambda d: d.update(format="other/1")), "another program"),
        (edit(lambda d: d.pop("sessionMemoryUnits")), "a list less"),
        (edit(lambda d: d.update(id="x")), "no id"),
        (edit(lambda d: d["userMemoryUnits"][0].pop("memory")), "no entry"),
        (edit(lambda d: d["userMemoryUnits"][0]["memory"].update(vector="!")), "vector"),
        (edit(lambda d: d["userMemoryUnits"][0]["memory"].update(kind=9)), "kind"),
        (edit(lambda d: d["userMemoryUnits"][0]["memory"].update(payload=[])), "payload"),
        (edit(lambda d: d["userMemoryUnits"][0].update(memory=7)), "entry"),
        (lambda d: json.dumps(d).encode()[:-1], "cut by one"),
        (lambda d: json.dumps(d).encode()[: len(json.dumps(d)) // 2], "half"),
        (lambda d: json.dumps(d).encode() + b"{}", "more after it"),
        (lambda _: b"", "empty"),
        (lambda _: b"[]", "a list"),
        (lambda _: b"{}", "an object"),
        (lambda _: b"\xff\xfe{}", "not UTF-8"),
        (lambda _: b'{"id": NaN}', "not a number"),
        (lambda _: b"[" * 100_000, "deep"),
        (lambda _: b'{"userMemoryUnits": [' + b"[" * 100_000, "deep inside"),
        (lambda d: json.dumps(EXAMPLE | {"userMemoryUnits": [7]}).encode(), "a number for a unit"),
        (
            lambda d: json.dumps(
                EXAMPLE | {"userMemoryUnits": [{"id": "x", "text": "a\0b", "created": "2026-01-01"}]}
            ).encode(),
            "NUL",
        ),
        (
            lambda d: json.dumps(
                EXAMPLE | {"userMemoryUnits": [{"id": "x", "text": "\ud800", "created": "2026-01-01"}]}
            ).encode(),
            "surrogate",
        ),
        (lambda d: json.dumps(EXAMPLE | {"userMemoryUnits": [{"id": "x", "text": "y"}]}).encode(), "no time"),
        (
            lambda d: json.dumps(
                EXAMPLE | {"userMemoryUnits": [{"id": "x", "text": " ", "created": "2026-01-01"}]}
            ).encode(),
            "no words",
        ),
    ]


async def test_a_document_that_is_corrupt_changed_or_foreign_is_refused_whole(
    runtime: Service, platform: Service
) -> None:
    await full_life(runtime)
    _, saved = await platform.post(STATE, uid="p1")
    document = await exported(platform, saved["id"])
    await platform.delete(f"{STATE}/{saved['id']}", uid="p1")
    before = await seen(runtime, platform)

    for edit, name in edits():
        raw = io.BytesIO(edit(document))
        status, said = await platform.post(STATES, data=raw, headers={"Content-Type": "application/json"}, uid="p1")
        assert status in (400, 422), (name, said)
        assert said["detail"].endswith("."), name
        assert (await platform.get(STATES, uid="p1"))[1]["count"] == 0, name

    assert await seen(runtime, platform) == before


async def test_an_id_that_another_snapshot_of_mine_has_is_a_conflict(platform: Service) -> None:
    assert (await platform.post(STATES, json=EXAMPLE, uid=PERSON))[0] == 200
    assert (await platform.post(STATES, json=EXAMPLE, uid=PERSON))[0] == 200

    changed = {**EXAMPLE, "dataMemoryUnits": []}
    status, said = await platform.post(STATES, json=changed, uid=PERSON)

    assert (status, said["code"]) == (409, "conflict")
    assert (await platform.get(f"{STATE}/{EXAMPLE['id']}", uid=PERSON))[1]["dataMemoryUnits"] != []


async def test_a_forgotten_snapshot_is_gone_and_receipts_count_those_that_are_left(
    runtime: Service, platform: Service
) -> None:
    ids = await full_life(runtime)
    _, saved = await platform.post(STATE, uid="p1")
    await runtime.delete(f"{APP}a/{ids[0]}", uid="p1")

    status, erased = await platform.delete("/api/memory", uid="p1")
    assert (status, erased["forgotten"], erased["held_by_snapshots"]) == (200, 3, 1)
    assert await platform.delete(f"{STATE}/{saved['id']}", uid="p1") == (200, {"forgotten": 1})
    assert (await platform.delete(f"{STATE}/{saved['id']}", uid="p1"))[0] == 404
    assert (await platform.get(f"{STATE}/{saved['id']}", uid="p1"))[0] == 404
    _, again = await platform.delete("/api/memory", uid="p1")
    assert (again["forgotten"], again["held_by_snapshots"]) == (0, 0)


@pytest.mark.parametrize("bad", ["x", "*", "%00", "1" * 5000, "{0}"])
async def test_a_malformed_snapshot_id_is_not_found(platform: Service, bad: str) -> None:
    for method in ("GET", "POST", "DELETE"):
        assert (await platform.call(method, f"{STATE}/{bad}"))[0] == 404


async def test_nobody_keeps_no_snapshots(platform: Service) -> None:
    for method, path in (("GET", STATE), ("POST", STATE), ("DELETE", "/api/memory"), ("POST", STATES)):
        assert (await platform.call(method, path, uid=None))[0] == 401
        assert (await platform.call(method, path, uid=None, headers=bearer("x", anonymous=True)))[0] == 403


async def test_a_key_that_is_bound_to_an_application_reaches_no_whole_memory(
    runtime: Service, platform: Service
) -> None:
    await full_life(runtime)
    _, saved = await platform.post(STATE, uid="p1")
    bound = (await made(runtime, uid="p1", application="app:a"))["key"]
    whole = (await made(runtime, uid="p1", all_applications=True))["key"]

    for method, path in (
        ("GET", STATE),
        ("POST", STATE),
        ("GET", STATES),
        ("POST", STATES),
        ("GET", f"{STATE}/{saved['id']}"),
        ("POST", f"{STATE}/{saved['id']}"),
        ("DELETE", f"{STATE}/{saved['id']}"),
        ("DELETE", "/api/memory"),
    ):
        status, said = await platform.call(method, path, uid=None, headers=key_headers(bound))
        assert (status, said["code"]) == (403, "not_allowed"), (method, path)
    assert (await platform.get(STATE, uid=None, headers=key_headers(whole)))[1]["id"] == saved["id"]
    assert (await runtime.get(f"{APP}a", uid="p1"))[1]["count"] == 3


async def test_a_key_that_impersonates_reaches_the_person_by_header_or_by_user_id(
    runtime: Service, platform: Service, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if platform is runtime:
        return  # an operator makes such keys in PostgreSQL only
    await full_life(runtime)
    key = key_headers(await impersonating(database, monkeypatch))

    by_id = await platform.post(STATE, uid=None, headers=key, params={"userId": "p1"})
    by_header = await platform.post(STATE, uid=None, headers={**key, "X-On-Behalf-Of": "p1"})
    assert by_id[0] == 200
    assert by_id == by_header
    assert by_id[1]["userId"] == "p1"
    status, _ = await platform.post(
        f"{STATE}/{by_id[1]['id']}", uid=None, headers={**key, "X-On-Behalf-Of": "p1"}, params={"userId": "p1"}
    )
    assert status == 200
    _, said = await runtime.get("/api/v1/apps/memory-access", uid="p1")
    assert [(one["actor"], one["verb"], one["memories"]) for one in said["access"]] == [
        ("ops", "restore", 4),
        ("ops", "save", 4),
        ("ops", "save", 4),
    ]


@pytest.mark.field("B13")
async def test_rows_that_name_another_person_are_the_importers_own(runtime: Service, platform: Service) -> None:
    await full_life(runtime)
    await learn(runtime, "a", "Of the victim", uid="victim")
    theirs = await seen(runtime, platform, uid="victim")
    _, saved = await platform.post(STATE, uid="p1")
    document = await exported(platform, saved["id"])
    for name in UNITS[1:]:
        for unit in document[name]:
            unit["userId"] = "victim"
    await platform.delete("/api/memory", params={"snapshots": "true"}, uid="p1")
    foreign = {
        **EXAMPLE,
        "userId": "victim",
        "userMemoryUnits": [{**EXAMPLE["sessionMemoryUnits"][0], "id": "u", "userId": "victim", "namespace": "user"}],
    }

    for taken in (document, foreign):
        status, said = await platform.post(STATES, json=taken, uid="p1")
        assert status == 200, said
        status, said = await platform.post(f"{STATE}/{said['id']}", uid="p1")
        assert status == 200
        assert said["userId"] == "p1"
        assert {unit["userId"] for name in UNITS[1:] for unit in said[name]} == {"p1"}

    assert (await runtime.get(f"{APP}acme-support", uid="p1"))[1]["count"] == 2
    assert await seen(runtime, platform, uid="victim") == theirs
    assert (await runtime.get(f"{APP}acme-support", uid="victim"))[1]["count"] == 0


async def test_a_document_that_is_too_large_or_breaks_off_leaves_nothing(
    runtime: Service, platform: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await full_life(runtime)
    _, saved = await platform.post(STATE, uid="p1")
    raw = json.dumps(await exported(platform, saved["id"])).encode()
    await platform.delete(f"{STATE}/{saved['id']}", uid="p1")

    _, writer = await asyncio.open_connection(platform.client.host, platform.client.port)
    head = f"POST {STATES} HTTP/1.1\r\nHost: x\r\nAuthorization: {bearer('p1')['Authorization']}\r\nContent-Length: {len(raw)}\r\n\r\n"
    writer.write(head.encode() + raw[: len(raw) // 2])
    await writer.drain()
    await asyncio.sleep(0.3)
    writer.close()
    await asyncio.sleep(0.3)
    assert (await platform.get(STATES, uid="p1"))[1]["total"] == 0

    monkeypatch.setattr("shared.snapshots.saving.LARGEST_DOCUMENT", 1000)
    headers = {"Content-Type": "application/json"}
    status, said = await platform.post(STATES, data=io.BytesIO(raw), headers=headers, uid="p1")
    assert (status, said["code"]) == (413, "too_large")
    assert (await platform.get(STATES, uid="p1"))[1]["total"] == 0


@pytest.mark.field("B43")
async def test_the_list_of_snapshots_pages_and_refuses_what_it_does_not_know(
    runtime: Service, platform: Service
) -> None:
    ids = []
    for number in range(3):
        await learn(runtime, "a", f"Fact {number}")
        ids.append((await platform.post(STATE, uid="p1"))[1]["id"])

    _, said = await platform.get(STATES, params={"limit": 1, "offset": 1}, uid="p1")
    assert ([one["id"] for one in said["states"]], said["count"], said["total"]) == ([ids[1]], 1, 3)
    for bad in ("page=2", "limit=0", "offset=-1", "respect_forgotten=maybe"):
        path = STATES if "respect" not in bad else f"{STATE}/{ids[0]}"
        method = "GET" if path == STATES else "POST"
        assert (await platform.call(method, f"{path}?{bad}", uid="p1"))[0] == 422
