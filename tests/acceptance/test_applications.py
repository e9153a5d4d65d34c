"""An application remembers when its Appspec says so; what is there can always be read, corrected and forgotten."""

from __future__ import annotations

import sys
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from yarl import URL

from runtime_svc.app import create_app
from runtime_svc.settings import RuntimeSettings
from shared.settings import BadSettingError
from tests.services import Service, start_runtime

MEMORIES = "/api/v1/apps/memories"


@pytest.fixture
async def apps(
    settings_environment: pytest.MonkeyPatch, database: str, tmp_path: Path
) -> AsyncIterator[tuple[Service, Service]]:
    """A runtime where every application remembers, and one with Appspecs, on the same database."""
    before = await start_runtime(database)
    (tmp_path / "desk.yaml").write_text("id: desk\nmemory: mem0:0.0.1\nagent:\n  memory: ephemeral\n")
    (tmp_path / "other.json").write_text('{"id": "other", "uid": "01OTHER", "memory": "memu"}')
    (tmp_path / "none.yaml").write_text("id: none\nagent:\n  memory: mem0\n")
    settings_environment.setenv("RUNTIME_APPS_DIR", str(tmp_path))
    after = await start_runtime(database)
    yield before, after
    await before.client.close()
    await after.client.close()


async def test_an_application_that_names_mem0_remembers(apps) -> None:
    _, runtime = apps
    assert (await runtime.post(f"{MEMORIES}/desk", json={"memory": "tea", "wait": True}))[0] == 200
    assert await runtime.get("/api/v1/apps/setup-notes/desk") == (200, {"app": "desk", "remembers": True, "notes": []})


@pytest.mark.parametrize(
    ("app", "why"), [("01OTHER", "'memu'"), ("none", "names no memory"), ("unknown", "no Appspec")]
)
async def test_one_that_does_not_learns_and_recalls_nothing_and_says_why(apps, app: str, why: str) -> None:
    before, runtime = apps
    path = f"{MEMORIES}/{app}"
    _, said = await before.post(path, json={"memory": "likes tea", "wait": True})
    memory = said["results"][0]["id"]

    status, said = await runtime.post(path, json={"memory": "likes coffee", "wait": True})
    assert status == 409
    assert why in said["detail"]
    for verb in ("search", "recall"):
        status, said = await runtime.post(f"{path}/{verb}", json={"query": "tea"})
        assert (status, said["memories"]) == (200, [])
        assert why in said["unread"]
    for tool, body in (("search_memory", {"query": "tea"}), ("remember", {"content": "likes coffee"})):
        status, said = await runtime.post(f"/api/v1/apps/tools/{app}/{tool}", json=body)
        assert status == 200
        assert why in said["text"]
    _, notes = await runtime.get(f"/api/v1/apps/setup-notes/{app}")
    assert (notes["remembers"], len(notes["notes"])) == (False, 1)
    assert why in notes["notes"][0]

    assert [m["memory"] for m in (await runtime.get(path))[1]["memories"]] == ["likes tea"]
    assert (await runtime.patch(f"{path}/{memory}", json={"memory": "likes green tea"}))[0] == 200
    assert await runtime.delete(f"{path}/{memory}") == (200, {"forgotten": 1})


async def test_a_directory_that_is_not_there_is_named_at_the_start(settings_environment, database, tmp_path) -> None:
    settings_environment.setenv("RUNTIME_APPS_DIR", str(tmp_path / "none"))
    runner = web.AppRunner(create_app(RuntimeSettings.read(), dsn=database))
    with pytest.raises(BadSettingError, match="RUNTIME_APPS_DIR"):
        await runner.setup()
    await runner.cleanup()


async def test_a_reset_leaves_the_memories_and_says_where_they_are_forgotten(runtime: Service) -> None:
    await runtime.post(f"{MEMORIES}/desk", json={"memory": "likes tea", "wait": True})

    status, said = await runtime.post("/api/v1/apps/deployments/desk/live/reset")

    assert (status, said["app"], said["deployment"], said["forgotten"]) == (200, "desk", "live", 0)
    assert "/api/v1/apps/memories/desk" in said["message"]
    assert "agent_id=app:desk" in said["message"]
    assert (await runtime.get(f"{MEMORIES}/desk"))[1]["count"] == 1


@pytest.mark.parametrize("app", ["app:desk", "*", "a%20b", "%20", "a%00b", "x" * 256])
async def test_what_names_no_application_is_refused_on_every_route(runtime: Service, app: str) -> None:
    for method, path in (
        ("GET", f"/api/v1/apps/setup-notes/{app}"),
        ("POST", f"/api/v1/apps/deployments/{app}/live/reset"),
        ("POST", f"/api/v1/apps/deployments/desk/{app}/reset"),
        ("POST", f"/api/v1/apps/tools/{app}/search_memory"),
        ("POST", f"/api/v1/apps/tools/{app}/remember"),
    ):
        url = URL(path, encoded=True)
        status, said = await runtime.call(method, url, json={"query": "x", "content": "x"})
        assert status == 422, (path, said)
        assert isinstance(said["detail"], str)


async def test_without_mem0_a_runtime_says_that_it_keeps_no_memories(
    settings_environment: pytest.MonkeyPatch, database: str
) -> None:
    settings_environment.setitem(sys.modules, "mem0", None)
    runtime = await start_runtime(database)
    try:
        path = f"{MEMORIES}/desk"
        for method, url, body in (
            ("GET", path, None),
            ("POST", path, {"memory": "likes tea"}),
            ("POST", f"{path}/search", {"query": "tea"}),
            ("POST", f"{path}/recall", {"query": "tea"}),
            ("PATCH", f"{path}/{uuid.uuid4()}", {"memory": "x"}),
            ("DELETE", f"{path}/{uuid.uuid4()}", None),
            ("DELETE", f"{path}?count=1", None),
        ):
            status, said = await runtime.call(method, url, json=body)
            assert (status, said["detail"]) == (503, "This runtime keeps no memories: mem0 is not installed on it.")
        _, said = await runtime.post("/api/v1/apps/tools/desk/remember", json={"content": "likes tea"})
        assert said == {"text": "Could not store that in memory right now."}
        assert (await runtime.get("/readyz"))[0] == 200
    finally:
        await runtime.client.close()
