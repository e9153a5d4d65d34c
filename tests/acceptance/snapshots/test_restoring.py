"""Saved, shown, restored and erased (contract 002)."""

from __future__ import annotations

import uuid

import pytest

from tests.acceptance.snapshots.life import (
    APP,
    DATA,
    MEMBERS,
    STATE,
    STATES,
    UNITS,
    allow,
    full_life,
    learn,
    seen,
)
from tests.services import Service


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
