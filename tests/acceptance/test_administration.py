"""An administrator reads another person's memories by naming them; the person can see that it happened."""

from __future__ import annotations

import pytest

from shared.http.keys import ACCESS
from shared.scope import Everything
from tests.services import Service, bearer

MEMORIES = "/api/runtimes/v1/memories"
ADMIN = {"uid": None, "headers": bearer("root", roles=["platform_admin"])}


async def learn(runtime: Service, words: str, uid: str, app: str = "desk") -> str:
    _, said = await runtime.post(f"/api/v1/apps/memories/{app}", json={"memory": words, "wait": True}, uid=uid)
    return said["results"][0]["id"]


async def accesses(platform: Service, uid: str) -> list[tuple[str, str, str | None, int]]:
    found = await platform.client.app[ACCESS].accesses(Everything(uid), limit=100)
    return [(access.actor, access.verb, access.application, access.memories) for access in found]


async def test_an_administrator_lists_whom_they_name_and_it_is_recorded(runtime: Service, platform: Service) -> None:
    await learn(runtime, "Ana likes tea", "ana")
    await learn(runtime, "Ana flies on Fridays", "ana", "travel")
    await learn(runtime, "Bob likes coffee", "bob")

    status, said = await platform.get(MEMORIES, params={"user_id": "ana"}, **ADMIN)
    assert (status, said["user_id"], said["total"]) == (200, "ana", 2)
    assert {memory["user_id"] for memory in said["memories"]} == {"ana"}
    _, said = await platform.get(MEMORIES, params={"user_id": "ana", "agent_id": "app:desk"}, **ADMIN)
    assert [memory["memory"] for memory in said["memories"]] == ["Ana likes tea"]

    assert await accesses(platform, "ana") == [("root", "list", "app:desk", 1), ("root", "list", None, 2)]
    assert await accesses(platform, "bob") == []


async def test_an_administrator_who_names_nobody_reads_their_own(runtime: Service, platform: Service) -> None:
    await learn(runtime, "Ana likes tea", "ana")
    await learn(runtime, "Root likes water", "root")

    _, said = await platform.get(MEMORIES, params={"agent_id": "app:desk"}, **ADMIN)

    assert [memory["memory"] for memory in said["memories"]] == ["Root likes water"]
    assert await accesses(platform, "root") == []


async def test_an_administrator_inspects_one_by_id_and_it_is_recorded(runtime: Service, platform: Service) -> None:
    theirs, own = await learn(runtime, "Ana likes tea", "ana"), await learn(runtime, "Root likes water", "root")

    status, said = await platform.get(f"{MEMORIES}/{theirs}", **ADMIN)
    assert (status, said["memory"]["memory"]) == (200, "Ana likes tea")
    assert (await platform.get(f"{MEMORIES}/{own}", **ADMIN))[0] == 200
    assert (await platform.get(f"{MEMORIES}/00000000-0000-4000-8000-000000000000", **ADMIN))[0] == 404
    assert (await platform.get(f"{MEMORIES}/none", **ADMIN))[0] == 404

    assert await accesses(platform, "ana") == [("root", "get", "app:desk", 1)]
    assert await accesses(platform, "root") == []


async def test_an_administrator_changes_and_forgets_nothing_of_others(runtime: Service, platform: Service) -> None:
    theirs = await learn(runtime, "Ana likes tea", "ana")

    assert (await platform.patch(f"{MEMORIES}/{theirs}", json={"memory": "x"}, **ADMIN))[0] == 404
    assert (await platform.delete(f"{MEMORIES}/{theirs}", **ADMIN))[0] == 404
    named = {"agent_id": "app:desk", "count": 9, "user_id": "ana"}
    assert (await platform.delete(MEMORIES, params=named, **ADMIN))[0] == 403
    assert (await platform.get(f"{MEMORIES}/{theirs}/history", **ADMIN))[0] == 404

    assert (await platform.get(MEMORIES, uid="ana"))[1]["total"] == 1


async def test_the_numbers_are_for_administrators_and_recorded_under_their_own_name(
    runtime: Service, platform: Service
) -> None:
    for uid in ("ana", "bob", "ANA"):
        await learn(runtime, f"{uid} likes tea", uid)
    await learn(runtime, "Ana flies", "ana", "travel")

    status, said = await platform.get(f"{MEMORIES}/stats", **ADMIN)

    assert status == 200
    assert said["stats"] == {"collection": "agent_memories", "total": 4, "distinct_users": 3, "distinct_agents": 2}
    assert await accesses(platform, "root") == [("root", "stats", None, 4)]
    assert await accesses(platform, "ana") == []


async def test_the_numbers_of_an_empty_store_are_zero(platform: Service) -> None:
    _, said = await platform.get(f"{MEMORIES}/stats", **ADMIN)
    assert said["stats"] == {"collection": "agent_memories", "total": 0, "distinct_users": 0, "distinct_agents": 0}


@pytest.mark.field("B11")
@pytest.mark.parametrize("roles", [None, [], ["admin"], "platform_admin", ["PLATFORM_ADMIN"], {"platform_admin": True}])
async def test_nobody_else_reads_another_by_naming_them(runtime: Service, platform: Service, roles: object) -> None:
    theirs = await learn(runtime, "Ana likes tea", "ana")
    bob = {"uid": None, "headers": bearer("bob", roles=roles)}

    assert (await platform.get(MEMORIES, params={"user_id": "ana"}, **bob))[0] == 403
    assert (await platform.get(f"{MEMORIES}/stats", **bob))[0] == 403
    assert (await platform.get(f"{MEMORIES}/{theirs}", **bob))[0] == 404
    assert (await platform.get(MEMORIES, params={"user_id": "bob"}, **bob))[1]["memories"] == []
    assert await accesses(platform, "ana") == []


@pytest.mark.field("S1")
@pytest.mark.parametrize("uid", ["*", " ", "a b", "ana\u00a0", "x" * 256])
async def test_an_unusable_user_id_names_nobody_also_for_an_administrator(platform: Service, uid: str) -> None:
    assert (await platform.get(MEMORIES, params={"user_id": uid}, **ADMIN))[0] == 422


async def test_what_cannot_be_recorded_is_not_shown(runtime: Service, platform: Service) -> None:
    await learn(runtime, "Ana likes tea", "ana")
    async with platform.client.app[ACCESS]._database.connection() as connection:
        await connection.execute("ALTER TABLE runtime_memory.access RENAME TO access_away")

    status, said = await platform.get(MEMORIES, params={"user_id": "ana"}, **ADMIN)

    assert status == 500
    assert "tea" not in str(said)
