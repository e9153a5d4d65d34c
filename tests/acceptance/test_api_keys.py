"""API keys: made by a person, shown once, bound to one application unless asked for otherwise, ended at once."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from click.testing import CliRunner

from shared.access import Access
from shared.cli import main
from shared.http.keys import ACCESS
from shared.scope import Everything
from shared.times import now
from tests.services import MACHINE, Service

KEYS = "/api/v1/apps/api-keys"
MEMORIES = "/api/v1/apps/memories"


def key_headers(key: str, scheme: str = "Token") -> dict[str, str]:
    return {"Authorization": f"{scheme} {key}"} if scheme != "X" else {"X-API-Key": key}


async def made(service: Service, uid: str = "ana", **said: Any) -> dict[str, Any]:
    status, view = await service.post(KEYS, uid=uid, json=said or {"all_applications": True})
    assert status == 201, view
    return view


async def impersonating(database: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A key of `ops` that may act for others."""
    monkeypatch.setenv("DATALAYER_POSTGRESQL_AGENT_MEMORIES_URI", database)
    arguments = ["key", "create", "--owner", "ops", "--scope", "users:impersonate", "--all-applications"]
    result = await asyncio.to_thread(CliRunner().invoke, main, arguments)
    assert result.exit_code == 0, result.output
    return result.output.strip()


async def test_a_key_acts_for_its_owner_in_every_scheme(engine_service: Service) -> None:
    key = (await made(engine_service))["key"]
    await engine_service.post(f"{MEMORIES}/notes", uid="ana", json={"memory": "Likes tea", "wait": True})

    for scheme in ("Token", "Bearer", "X"):
        status, view = await engine_service.get(f"{MEMORIES}/notes", uid=None, headers=key_headers(key, scheme))
        assert (status, [one["memory"] for one in view["memories"]]) == (200, ["Likes tea"])


async def test_the_secret_is_shown_once(engine_service: Service) -> None:
    view = await made(engine_service, name="laptop", application="notes")
    _, listed = await engine_service.get(KEYS, uid="ana")

    assert listed["keys"][0]["prefix"] == view["prefix"]
    assert listed["keys"][0]["application"] == "app:notes"
    assert view["key"].startswith(view["prefix"])
    assert view["key"] not in str(listed)


async def test_a_bound_key_reaches_its_application_only(engine_service: Service) -> None:
    key = (await made(engine_service, application="app:notes"))["key"]

    assert (await engine_service.get(f"{MEMORIES}/notes", uid=None, headers=key_headers(key)))[0] == 200
    assert (await engine_service.get(f"{MEMORIES}/travel", uid=None, headers=key_headers(key)))[0] == 403


async def test_a_bound_key_is_told_of_its_application_only(engine_service: Service) -> None:
    for app in ("notes", "travel"):
        for words in ("Likes tea", "Likes jam"):
            await engine_service.post(f"{MEMORIES}/{app}", uid="ana", json={"memory": words, "wait": True})
        _, view = await engine_service.get(f"{MEMORIES}/{app}", uid="ana")
        await engine_service.delete(f"{MEMORIES}/{app}/{view['memories'][0]['id']}", uid="ana")
    await engine_service.client.app[ACCESS].note(
        Everything("ana"), Access("ops", "list", "apps", "app:travel", 1, now())
    )
    key = key_headers((await made(engine_service, application="notes"))["key"])
    told = {
        name: (await engine_service.get(f"/api/v1/apps/memory-{name}", uid=None, headers=key))[1]
        for name in ("applications", "receipts", "access")
    }

    assert [one["app"] for one in told["applications"]["applications"]] == ["app:notes"]
    assert [one["app"] for one in told["receipts"]["receipts"]] == ["app:notes"]
    assert told["access"]["access"] == []
    _, own = await engine_service.get("/api/v1/apps/memory-receipts", uid="ana")
    assert [one["app"] for one in own["receipts"]] == ["app:travel", "app:notes"]


async def test_a_revoked_key_ends_at_once(engine_service: Service) -> None:
    view = await made(engine_service)
    assert (await engine_service.delete(f"{KEYS}/{view['id']}", uid="ben"))[0] == 404
    assert (await engine_service.delete(f"{KEYS}/{view['id']}", uid="ana")) == (200, {"success": True, "revoked": 1})

    status, _ = await engine_service.get(f"{MEMORIES}/notes", uid=None, headers=key_headers(view["key"]))
    assert status == 401


async def test_last_use_is_kept(engine_service: Service) -> None:
    view = await made(engine_service)
    began = datetime.now(UTC)
    await engine_service.get(f"{MEMORIES}/notes", uid=None, headers=key_headers(view["key"]))
    ended = datetime.now(UTC)

    _, listed = await engine_service.get(KEYS, uid="ana")
    assert began <= datetime.fromisoformat(listed["keys"][0]["last_used_at"]) <= ended


@pytest.mark.parametrize("said", [{}, {"name": "x"}, {"application": "a", "all_applications": True}, {"application": "a b"}, {"all_applications": True, "name": " "}, {"all_applications": True, "expires_at": "2020-01-01"}, {"all_applications": "yes"}])  # fmt: skip
async def test_a_key_says_what_it_reaches_and_until_when(engine_service: Service, said: dict[str, Any]) -> None:
    status, view = await engine_service.post(KEYS, uid="ana", json=said)

    assert (status, type(view["detail"])) == (422, str)


async def test_neither_a_key_nor_the_machine_makes_keys(engine_service: Service) -> None:
    key = (await made(engine_service))["key"]
    for headers in (key_headers(key), {"Authorization": f"Bearer {MACHINE}"}):
        status, _ = await engine_service.post(KEYS, uid=None, headers=headers, json={"all_applications": True})
        assert status == 403


@pytest.mark.parametrize("change", [lambda key: key[:-1] + ("A" if key[-1] != "A" else "B"), lambda key: key + "x", lambda _: "rmk_0000000000000000_" + "A" * 43, lambda _: "m0-anything"])  # fmt: skip
async def test_a_key_that_differs_in_anything_is_nobodys(engine_service: Service, change: Any) -> None:
    key = (await made(engine_service))["key"]

    status, _ = await engine_service.get(f"{MEMORIES}/notes", uid=None, headers=key_headers(change(key)))
    assert status == 401


async def test_one_person_sees_none_of_anothers_keys(engine_service: Service) -> None:
    await made(engine_service)

    assert (await engine_service.get(KEYS, uid="ben"))[1]["keys"] == []


async def test_the_platform_knows_the_same_keys(runtime: Service, platform: Service) -> None:
    status, view = await platform.post("/api/runtimes/v1/api-keys", uid="ana", json={"application": "notes"})
    assert status == 201

    assert (await runtime.get(f"{MEMORIES}/notes", uid=None, headers=key_headers(view["key"])))[0] == 200


async def test_an_operator_makes_a_key_that_may_act_for_others(
    runtime: Service, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = key_headers(await impersonating(database, monkeypatch))

    await runtime.post(f"{MEMORIES}/notes", uid="ana", json={"memory": "Likes tea", "wait": True})
    status, view = await runtime.get(f"{MEMORIES}/notes", uid=None, headers={**headers, "X-On-Behalf-Of": "ana"})
    assert (status, len(view["memories"])) == (200, 1)
    _, accesses = await runtime.get("/api/v1/apps/memory-access", uid="ana")
    assert accesses["access"][0]["actor"] == "ops"
