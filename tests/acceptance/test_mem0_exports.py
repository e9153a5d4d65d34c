"""Exports of the Mem0 dialect, on each engine: what was asked for is read when it is fetched, by whom it belongs to."""

from __future__ import annotations

from typing import Any

import pytest

from shared.api_keys import digest_of, new_key
from shared.http.keys import API_KEYS
from shared.tokens import IMPERSONATE
from tests.acceptance.mem0_key import Program, program
from tests.services import Service

MINE = {"user_id": "ana"}
UNKNOWN = "7d4e1f6a-0000-4000-8000-000000000001"
SCHEMA = {"type": "object", "properties": {"likes": {"type": "array"}}}


@pytest.fixture
async def ana(engine_service: Service) -> Program:
    return await program(engine_service)


async def impersonating(service: Service, owner: str = "ops", application: str | None = None) -> Program:
    """A program with a key that may act for others."""
    record, text = new_key(owner, "test", application=application, scopes=frozenset({IMPERSONATE}))
    assert service.client.app is not None
    await service.client.app[API_KEYS].keep(record, digest_of(text))
    return Program(service, text)


async def asked_for(one: Program, **more: Any) -> str:
    said = {"schema": SCHEMA, "filters": MINE, **more}
    return str((await one.call("POST", "/v1/exports/", json=said, status=201))["id"])


async def fetched(one: Program, status: int = 200, headers: dict[str, str] | None = None, **said: Any) -> Any:
    return await one.call("POST", "/v1/exports/get/", json=said, status=status, headers=headers or {})


async def test_an_export_holds_nothing_that_was_forgotten_since(ana: Program) -> None:
    item = await ana.add("I love tea")
    await ana.add("I love jam")
    schema = {"type": "object", "properties": {"likes": {"type": "array"}}}
    export = await ana.call("POST", "/v1/exports/", json={"schema": schema, "filters": {"AND": [MINE]}}, status=201)
    await ana.call("DELETE", f"/v1/memories/{item['id']}/")

    view = await ana.call("POST", "/v1/exports/get/", json={"memory_export_id": export["id"]})
    assert view["likes"] == ["I love jam"]
    await ana.call("POST", "/v1/exports/get/", json={"memory_export_id": UNKNOWN}, status=404)
    await ana.call("POST", "/v1/exports/", json={"filters": MINE}, status=400)


async def test_a_bound_key_is_told_of_no_export_that_another_asked_for(ana: Program, engine_service: Service) -> None:
    schema = {"type": "object", "properties": {"secret_plan": {"type": "string"}}}
    export = await ana.call("POST", "/v1/exports/", json={"schema": schema, "filters": MINE}, status=201)
    shop = await program(engine_service, application="shop")

    await shop.call("POST", "/v1/exports/get/", json={}, status=404)
    await shop.call("POST", "/v1/exports/get/", json={"memory_export_id": export["id"]}, status=404)
    await shop.call("POST", "/v1/exports/", json={"schema": {"properties": {}}, "filters": MINE}, status=201)
    assert await shop.call("POST", "/v1/exports/get/", json={}) == {"memories": []}
    assert "secret_plan" in await ana.call("POST", "/v1/exports/get/", json={})


async def test_who_may_act_for_a_person_fetches_the_export_it_made_by_its_id_alone(engine_service: Service) -> None:
    ops = await impersonating(engine_service)
    await ops.add("likes tea")
    export = await asked_for(ops)

    assert (await fetched(ops, memory_export_id=export))["likes"] == ["likes tea"]
    _, access = await engine_service.get("/api/v1/apps/memory-access", uid="ana")
    newest = access["access"][0]
    assert (newest["actor"], newest["verb"], newest["memories"]) == ("ops", "get_export", 1)


async def test_the_latest_export_of_a_person_is_fetched_by_user_id_or_header(engine_service: Service) -> None:
    ops = await impersonating(engine_service)
    await ops.add("likes tea")
    await asked_for(ops)

    await fetched(ops, status=404)
    assert (await fetched(ops, user_id="ana"))["likes"] == ["likes tea"]
    assert (await fetched(ops, filters={"AND": [MINE]}))["likes"] == ["likes tea"]
    assert (await fetched(ops, headers={"X-On-Behalf-Of": "ana"}))["likes"] == ["likes tea"]
    await fetched(ops, status=404, user_id="ben")


async def test_an_export_that_was_asked_for_by_header_is_fetched_with_and_without_it(engine_service: Service) -> None:
    ops, header = await impersonating(engine_service), {"X-On-Behalf-Of": "ana"}
    await ops.add("likes tea")
    export = await asked_for(ops, headers=header)

    assert (await fetched(ops, memory_export_id=export))["likes"] == ["likes tea"]
    assert (await fetched(ops, memory_export_id=export, headers=header))["likes"] == ["likes tea"]


async def test_an_export_s_id_gives_nothing_to_who_may_not_act_for_its_person(
    engine_service: Service, ana: Program
) -> None:
    ops, ben = await impersonating(engine_service), await program(engine_service, "ben")
    bound = await impersonating(engine_service, application="app:shop")
    await ops.add("likes tea")
    export = await asked_for(ops)

    unknown = await fetched(ben, status=404, memory_export_id=UNKNOWN)
    assert await fetched(ben, status=404, memory_export_id=export) == unknown
    await fetched(bound, status=404, memory_export_id=export)
    await fetched(ben, status=403, user_id="ana")
    assert (await fetched(ana, memory_export_id=export))["likes"] == ["likes tea"], "it is hers"


@pytest.mark.parametrize("whose", ["", "YW5h", "YmVu", "Kg==", "!", "\u00e9", "gA==", "IA==", "YW5h.YW5h"])
async def test_no_forged_id_is_an_export(engine_service: Service, whose: str) -> None:
    ops = await impersonating(engine_service)

    await fetched(ops, status=404, memory_export_id=f"{UNKNOWN}.{whose}")
    await fetched(await program(engine_service), status=404, memory_export_id=f"{UNKNOWN}.{whose}")


async def test_a_person_of_any_uid_has_exports_made_for_them(engine_service: Service) -> None:
    ops, uid = await impersonating(engine_service), "ána/+~שלום.😀"
    export = await asked_for(ops, filters={"user_id": uid})

    assert await fetched(ops, memory_export_id=export) == {"likes": [], "memories": []}
