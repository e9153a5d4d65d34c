"""Our TypeScript client under node, against both services really running."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from tests.acceptance.conftest import Together
from tests.acceptance.typescript import CLIENTS, TypeScriptClient, installed, npm
from tests.services import token

pytestmark = pytest.mark.timeout(600)  # the first run fetches the compiler

KEY = "app:diary"


@pytest.fixture
async def client(together: Together) -> AsyncIterator[TypeScriptClient]:
    found = await TypeScriptClient.start(together.address, str(together.runtime.client.make_url("/")))
    yield found
    await found.stop()


async def learn(client: TypeScriptClient, *facts: str, uid: str = "ana", app: str = "diary") -> list[str]:
    ids = []
    for fact in facts:
        said = await client("client.learn", app, {"memory": fact, "wait": True}, token=token(uid))
        ids.append(said["value"]["results"][0]["id"])
    return ids


async def test_functions_list_correct_and_forget_with_the_token_first_and_the_address_last(
    together: Together, client: TypeScriptClient
) -> None:
    tea, monday = await learn(client, "Likes tea", "Reads reports on Mondays")
    ana, at = token("ana"), together.address.rstrip("/")

    listed = (await client("listRuntimeMemories", ana, {"agentId": f" {KEY} ", "limit": 1, "offset": -3}, at))["value"]
    assert [m["id"] for m in listed["memories"]] == [monday]
    assert (listed["success"], listed["count"], listed["total"], listed["limit"]) == (True, 1, 2, 1)
    rest = (await client("listRuntimeMemories", ana, {"agentId": KEY, "cursor": listed["next"]}, at))["value"]
    assert [m["id"] for m in rest["memories"]] == [tea]
    assert rest["next"] is None
    found = (await client("listRuntimeMemories", ana, {"q": "reports"}, at))["value"]
    assert [m["id"] for m in found["memories"]] == [monday]

    corrected = (await client("correctRuntimeMemory", ana, tea, " Likes  green tea", at))["value"]
    assert (corrected["memory"]["memory"], corrected["memory"]["corrected_by"]) == ("Likes green tea", "ana")
    got = (await client("getRuntimeMemory", ana, tea, at))["value"]
    assert got["memory"]["memory"] == "Likes green tea"
    grew = await client("forgetRuntimeMemories", ana, KEY, 1, at)
    assert (grew["kind"], grew["status"], grew["responseStatus"], grew["body"]["total"]) == (
        "RunResponseError",
        409,
        409,
        2,
    )
    assert (await client("forgetRuntimeMemory", ana, tea, at))["value"] == {"success": True, "forgotten": 1}
    assert (await client("forgetRuntimeMemories", ana, KEY, 1, at))["value"] == {"success": True, "forgotten": 1}


async def test_functions_share_and_stop(together: Together, client: TypeScriptClient) -> None:
    ana, at = token("ana"), together.address.rstrip("/")

    share = (await client("allowRuntimeMemoryShare", ana, f" {KEY} ", "app:desk", at))["value"]
    assert (share["source"], share["reader"]) == (KEY, "app:desk")
    assert (await client("listRuntimeMemoryShares", ana, {"reader": "app:desk"}, at))["value"] == [share]
    assert (await client("listRuntimeMemoryShares", ana, {"source": "app:desk"}, at))["value"] == []
    assert (await client("stopRuntimeMemoryShare", ana, KEY, "app:desk", at))["value"] is None
    assert (await client("stopRuntimeMemoryShare", ana, KEY, "app:desk", at))["status"] == 404


@pytest.mark.parametrize(
    ("name", "args", "sentence"),
    [
        ("getRuntimeMemory", ["  "], "Memory id is required"),
        ("correctRuntimeMemory", ["m1", "  "], "What it should remember is required"),
        ("forgetRuntimeMemories", [KEY, -1], "Forgetting needs the count confirmed, not -1."),
        ("forgetRuntimeMemories", [KEY, 1.5], "Forgetting needs the count confirmed, not 1.5."),
        ("forgetRuntimeMemories", [" ", 1], "Agent id is required"),
        ("allowRuntimeMemoryShare", ["", KEY], "The application remembering is required"),
        ("stopRuntimeMemoryShare", [KEY, " "], "The application reading is required"),
    ],
)
async def test_what_cannot_be_is_refused_before_anything_is_sent(
    client: TypeScriptClient, name: str, args: list, sentence: str
) -> None:
    # An address where nothing listens: what is sent would be a NetworkError.
    assert (await client(name, token("ana"), *args, "http://127.0.0.1:1"))["error"] == sentence


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ("", "Authentication token is required"),
        ("m0-key", "Invalid token format: JWT must have three parts separated by dots"),
        ("a..c", "Invalid token format: Part 2 is empty"),
        ("a.b!.c", "Invalid token format: Part 2 contains invalid characters"),
        ("a.b.c", "Invalid token format: Token is too short to be a valid JWT"),
        ("x" * 60 + ".b." + "c" * 60, "Invalid token format: JWT header is not valid base64-encoded JSON"),
        (token("ana", ttl=-60), "Token has expired"),
        (token("ana", nbf=2**33), "Token is not yet valid"),
    ],
)
async def test_a_token_that_cannot_hold_is_refused_before_anything_is_sent(
    client: TypeScriptClient, bad: str, sentence: str
) -> None:
    assert (await client("listRuntimeMemories", bad, {}, "http://127.0.0.1:1"))["error"] == sentence


async def test_faults_have_kinds_of_their_own(together: Together, client: TypeScriptClient) -> None:
    at = together.address.rstrip("/")

    refused = await client("listRuntimeMemories", token("ana", secret="x" * 40), {}, at)
    assert (refused["kind"], refused["status"]) == ("RunResponseError", 401)
    assert refused["error"] == refused["detail"] != ""
    unreached = await client("listRuntimeMemories", token("ana"), {}, "http://127.0.0.1:1")
    assert unreached["kind"] == "NetworkError"
    given_up = await client("getRuntimeMemory", token("ana"), "m1", at, abort=True)
    assert given_up["error"] == "the caller gave up"


async def test_the_client_learns_searches_recalls_and_tells_what_became_of_it(client: TypeScriptClient) -> None:
    ana = token("ana")
    diet, _ = await learn(client, "I am vegetarian", "Meetings are on Tuesdays")

    found = (await client("client.search", "diary", "what may I cook", {"limit": 1}, token=ana))["value"]
    assert [m["id"] for m in found["memories"]] == [diet]
    recalled = (await client("client.recall", "diary", "what may I cook", token=ana))["value"]
    assert recalled["context"].startswith("[Relevant memories about this user:]\n- I am vegetarian")
    await client("client.correctRuntimeMemory", diet, "I am vegan", token=ana)
    told = (await client("client.history", diet, token=ana))["value"]
    assert [(r["event"], r["new_memory"]) for r in told] == [("ADD", "I am vegetarian"), ("UPDATE", "I am vegan")]
    assert (await client("client.applicationHistory", "diary", diet, token=ana))["value"] == told
    [app] = (await client("client.applications", token=ana))["value"]
    assert (app["app"], app["total"]) == (KEY, 2)
    await client("client.forgetApplicationMemory", "diary", diet, token=ana)
    [receipt] = (await client("client.receipts", {"limit": 5}, token=ana))["value"]
    assert (receipt["app"], receipt["forgotten"], receipt["verb"]) == (KEY, 1, "forget")
    assert (await client("client.access", token=ana))["value"] == []
    assert (await client("client.applications", token=token("bob")))["value"] == []


async def test_the_client_saves_restores_downloads_and_deletes_snapshots(client: TypeScriptClient) -> None:
    ana = token("ana")
    await learn(client, "Likes tea")

    saved = (await client("client.saveSnapshot", token=ana))["value"]
    [listed] = (await client("client.listSnapshots", token=ana))["value"]
    assert listed["id"] == saved["id"]
    document = (await client("client.downloadSnapshot", saved["id"], token=ana))["value"]
    assert "Likes tea" in json.dumps(document)
    await client("client.forgetRuntimeMemories", KEY, 1, token=ana)
    restored = (await client("client.restoreSnapshot", saved["id"], token=ana))["value"]
    assert restored["restored"]["cameBack"] == 1
    assert (await client("client.restoreSnapshot", saved["id"], token=token("bob")))["status"] == 404
    await client("client.deleteSnapshot", saved["id"], token=ana)
    assert (await client("client.listSnapshots", token=ana))["value"] == []


async def test_the_client_makes_and_revokes_api_keys(client: TypeScriptClient) -> None:
    ana = token("ana")

    made = (await client("client.createApiKey", {"name": "desk", "application": KEY}, token=ana))["value"]
    assert made["key"].startswith(made["prefix"])
    [listed] = (await client("client.listApiKeys", token=ana))["value"]
    assert (listed["id"], "key" in listed) == (made["id"], False)
    await client("client.revokeApiKey", made["id"], token=ana)
    assert (await client("client.listApiKeys", token=ana))["value"] == []


def test_the_package_holds_its_code_and_types_and_nothing_else() -> None:
    package = installed("typescript")
    [packed] = json.loads(npm(package, "pack", "--dry-run", "--json", "--silent"))
    files = {file["path"] for file in packed["files"]}

    assert {"package.json", "README.md", "dist/index.js", "dist/index.d.ts", "src/index.ts"} <= files
    assert all(path in {"package.json", "README.md"} or path.startswith(("dist/", "src/")) for path in files)
    assert packed["size"] < 60_000
    manifest = json.loads((package / "package.json").read_text("utf-8"))
    assert "dependencies" not in manifest


def test_lock_files_name_no_host() -> None:
    for lock in CLIENTS.glob("*/package-lock.json"):
        assert "://" not in lock.read_text("utf-8"), lock.parent.name
