"""What a project of the Mem0 dialect keeps, on each engine: one binding's settings are no other's."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from shared.db.collection import Collection
from shared.db.migrate import migrate, read_migrations
from shared.db.preparing import prepare
from shared.stores.local.directory import DATABASE
from shared.stores.local.store import LocalStore
from shared.stores.local.tables import VERSIONS
from tests.acceptance.mem0_key import Program, program
from tests.services import Service

DEFAULT = "/api/v1/orgs/organizations/runtime-memory/projects/default/"
BEFORE = [("ana", "default"), ("ana", "shop"), ("ben", "default"), ("ben", "app")]
"""Whose settings an earlier version kept, and under which id; of these `ana` has a key that is bound to `app:default`."""
SINCE = [("ana", "app:default"), ("ana", "app:shop"), ("ana", "default"), ("ben", "app:app"), ("ben", "default")]
RECORD = "INSERT INTO {} (user_id, kind, id, body, created_at, updated_at) VALUES ('{}', 'project', '{}', '{}', {}, {})"
SETTINGS = "SELECT user_id, id, body FROM {} WHERE kind = 'project' ORDER BY user_id, id"


@pytest.fixture
async def ana(engine_service: Service) -> Program:
    return await program(engine_service)


async def test_the_project_keeps_instructions_and_categories(ana: Program) -> None:
    ping = await ana.call("GET", "/v1/ping/")
    path = f"/api/v1/orgs/organizations/{ping['org_id']}/projects/{ping['project_id']}/"
    categories = [{"cooking": "what they cook"}]

    await ana.call("PATCH", path, json={"custom_instructions": "Only food.", "custom_categories": categories})
    await ana.call("PATCH", path, json={"description": "a shop"})
    view = await ana.call("GET", f"{path}?fields=custom_instructions")
    assert (view["custom_instructions"], view["custom_categories"], view["description"]) == (
        "Only food.",
        categories,
        "a shop",
    )
    refused = await ana.call("PATCH", path, json={"custom_categories": ["cooking"]}, status=400)
    assert refused["detail"] == 'Expected a dictionary of items but got type "str".'
    await ana.call("GET", path.replace(ping["project_id"], "other"), status=404)


async def test_a_key_that_is_bound_to_default_and_one_that_is_not_bound_have_each_their_own(
    engine_service: Service, ana: Program
) -> None:
    bound = await program(engine_service, application="default")
    assert (await bound.call("GET", "/v1/ping/"))["project_id"] == "default"

    await ana.call(
        "PATCH", DEFAULT, json={"custom_instructions": "Only food.", "custom_categories": [{"cooking": "food"}]}
    )
    assert (await bound.call("GET", DEFAULT))["custom_instructions"] is None
    await bound.call("PATCH", DEFAULT, json={"custom_instructions": "Only work."})
    assert (await ana.call("GET", DEFAULT))["custom_instructions"] == "Only food."
    assert (await bound.call("GET", DEFAULT))["custom_categories"] is None


def record(table: str, person: str, record_id: str, at: str) -> str:
    body = json.dumps({"custom_instructions": f"{person} {record_id}"})
    return RECORD.format(table, person, record_id, body, at, at)


def told(rows: list[Any]) -> list[tuple[str, str, str]]:
    return [(person, name, json.loads(body)["custom_instructions"]) for person, name, body in rows]


WANTED = [
    (person, name, f"{person} {'default' if name == 'app:default' else name.removeprefix('app:')}")
    for person, name in SINCE
]


async def test_settings_of_an_earlier_postgres_are_told_apart(database: str) -> None:
    connection = await asyncpg.connect(database)
    await migrate(connection, [one for one in read_migrations() if one.name < "0022"])
    for person, record_id in BEFORE:
        await connection.execute(record("runtime_memory.client_records", person, record_id, "now()"))
    await connection.execute(
        "INSERT INTO runtime_memory.api_keys (id, user_id, name, agent_id, scopes, digest, created_at)"
        " VALUES ('0', 'ana', 'k', 'app:default', '{}', 'x', now()), ('1', 'ben', 'k', 'app:shop', '{}', 'x', now())"
    )

    await prepare(database, Collection("agent_memories"), 3, with_ddl=True)

    assert told(await connection.fetch(SETTINGS.format("runtime_memory.client_records"))) == WANTED
    await connection.close()


async def test_settings_of_an_earlier_directory_are_told_apart(tmp_path: Path) -> None:
    await (await LocalStore.open(tmp_path, dimensions=3)).close()
    with closing(sqlite3.connect(tmp_path / DATABASE)) as earlier, earlier:
        for person, record_id in BEFORE:
            earlier.execute(record("client_records", person, record_id, "'2026-01-01T00:00:00.000000+00:00'"))
        earlier.execute(
            "INSERT INTO api_keys (id, user_id, name, agent_id, scopes, digest, created_at)"
            " VALUES ('0', 'ana', 'k', 'app:default', '[]', x'00', ''), ('1', 'ben', 'k', 'app:shop', '[]', x'00', '')"
        )
        earlier.execute(f"PRAGMA user_version = {len(VERSIONS) - 1}")

    await (await LocalStore.open(tmp_path, dimensions=3)).close()

    with closing(sqlite3.connect(tmp_path / DATABASE)) as since:
        assert told(since.execute(SETTINGS.format("client_records")).fetchall()) == WANTED
