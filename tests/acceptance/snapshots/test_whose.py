"""Whose memory, as a whole, a caller reaches."""

from __future__ import annotations

import uuid

import pytest

from tests.acceptance.snapshots.life import (
    APP,
    STATE,
    STATES,
    full_life,
    learn,
    same_words_under_other_ids,
    seen,
)
from tests.acceptance.test_api_keys import impersonating, key_headers, made
from tests.services import Service, bearer


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
