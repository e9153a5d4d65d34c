"""A life that is remembered, and all of it that a person can see: for the tests of snapshots."""

from __future__ import annotations

from typing import Any

from tests.services import Service

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


async def exported(platform: Service, state_id: str, uid: str = "p1") -> dict[str, Any]:
    status, said = await platform.get(f"{STATE}/{state_id}", params={"export": "true"}, uid=uid)
    assert status == 200
    return said
