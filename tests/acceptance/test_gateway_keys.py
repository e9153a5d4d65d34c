"""Keys at the gateway: their own reach, and acting for another person so that this person sees it."""

from __future__ import annotations

import pytest

from tests.acceptance.test_api_keys import impersonating, made
from tests.services import Service, bearer

G = "/api/v1/llm/gateway"


async def tell(runtime: Service, uid: str, app: str, words: str) -> None:
    body = {"memory": words, "wait": True}
    status, said = await runtime.post(f"/api/v1/apps/memories/{app}", json=body, uid=uid)
    assert status == 200, said


async def words(runtime: Service, headers: dict[str, str], **body: str) -> list[str]:
    status, said = await runtime.post(f"{G}/list-memories", json=body, uid=None, headers=headers)
    assert status == 200, said
    return [m["memory"] for m in said["memories"]]


async def test_a_bound_key_reaches_its_application_and_an_unbound_one_all_of_its_owners(
    engine_service: Service,
) -> None:
    await tell(engine_service, "ana", "notes", "In notes")
    await tell(engine_service, "ana", "travel", "In travel")
    await tell(engine_service, "ben", "notes", "Of Ben")
    bound = {"X-API-Key": (await made(engine_service, application="notes"))["key"]}
    unbound = {"X-API-Key": (await made(engine_service, all_applications=True))["key"]}

    assert await words(engine_service, bound) == ["In notes"]
    assert await words(engine_service, unbound) == ["In travel", "In notes"]
    assert await words(engine_service, unbound, app_id="notes") == ["In notes"]
    status, _ = await engine_service.post(f"{G}/list-memories", json={"app_id": "travel"}, uid=None, headers=bound)
    assert status == 403
    _, found = await engine_service.post(f"{G}/search-memories", json={"query": "Of Ben"}, uid=None, headers=unbound)
    assert not any("Ben" in m["memory"] for m in found["memories"])
    _, gone = await engine_service.post(f"{G}/delete-all-memories", json={}, uid=None, headers=bound)
    assert gone["deleted"] == 1
    assert await words(engine_service, unbound) == ["In travel"]


async def test_who_acts_for_a_person_reaches_that_persons_memories_and_the_person_sees_it(
    runtime: Service, platform: Service, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(runtime, "ana", "notes", "User plays the cello")
    await tell(runtime, "ops", "notes", "Of the operator")
    key = {"X-API-Key": await impersonating(database, monkeypatch)}
    ana = {**key, "X-On-Behalf-Of": "ana"}

    assert await words(runtime, ana) == ["User plays the cello"]
    _, found = await runtime.post(f"{G}/search-memories", json={"query": "music"}, uid=None, headers=ana)
    changed = {"memory_id": found["memories"][0]["id"], "memory": "User plays the viola"}
    status, _ = await runtime.post(f"{G}/update-memory", json=changed, uid=None, headers=ana)
    assert status == 200
    assert await words(runtime, key) == ["Of the operator"]

    for service, path in ((runtime, "/api/v1/apps"), (platform, "/api/runtimes/v1")):
        _, record = await service.get(f"{path}/memory-access", uid="ana")
        seen = [(one["actor"], one["verb"], one["door"], one["memories"]) for one in record["access"]]
        assert seen == [
            ("ops", "update_memory", "gateway", 1),
            ("ops", "search", "gateway", 1),
            ("ops", "list_memories", "gateway", 1),
        ]
        assert (await service.get(f"{path}/memory-access", uid="ops"))[1]["access"] == []
    _, listed = await runtime.get("/api/v1/apps/memories/notes", uid="ana")
    assert listed["memories"][0]["corrected_by"] == "ops"


@pytest.mark.field("B98")
async def test_acting_for_another_is_asked_for_properly_and_only_where_it_is_allowed(
    runtime: Service, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = {"X-API-Key": (await made(runtime, all_applications=True))["key"]}
    key = {"X-API-Key": await impersonating(database, monkeypatch)}

    for headers in (plain, bearer("ana")):
        for asked, status in (("ben", 403), ("", 400), ("   ", 400), ("*", 400), ("a b", 400)):
            got, said = await runtime.post(
                f"{G}/list-memories", json={}, uid=None, headers={**headers, "X-On-Behalf-Of": asked}
            )
            assert got in {status, 403}, said
    for asked in ("", "   ", "*", "a b", "x" * 256):
        got, said = await runtime.post(
            f"{G}/list-memories", json={}, uid=None, headers={**key, "X-On-Behalf-Of": asked}
        )
        assert got == 400, said

    assert (await runtime.get("/api/v1/apps/memory-access", uid="ben"))[1]["access"] == []
