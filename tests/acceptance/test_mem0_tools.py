"""Released programs that stand on the Mem0 Platform, unmodified, against the running runtime. Only with `make clients`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.acceptance.mem0_clients import ALL, SEEN, WORKED
from tests.acceptance.mem0_key import program
from tests.acceptance.mem0_tools import SEARCHED, last_json, node_tool, python_tool, said, script
from tests.services import Service

TABLE = Path(__file__).parents[2] / "docs" / "mem0-clients.md"

pytestmark = [
    pytest.mark.timeout(1200),
    pytest.mark.skipif(os.environ.get("CLIENTS") != "all", reason="these are fetched by make clients only"),
]


async def test_the_command_line_client_works(runtime: Service, tmp_path: Path) -> None:
    mem0 = str(python_tool("mem0-cli==0.2.13") / "mem0")
    ana = await program(runtime)
    host = str(runtime.client.make_url("/")).rstrip("/")

    async def cli(*words: str) -> str:
        return await said(mem0, *words, key=ana.key, host=host, home=tmp_path)

    assert "onnected" in await cli("status")
    await cli("add", SEARCHED, "--user-id", "ana", "--no-infer", "--metadata", '{"source": "cli"}')
    [listed] = json.loads(await cli("list", "--user-id", "ana", "--output", "json"))["data"]
    assert listed["memory"] == SEARCHED
    assert SEARCHED in await cli("search", "outdoor hobbies", "--user-id", "ana", "--output", "json")
    assert SEARCHED in await cli("get", listed["id"], "--output", "json")
    await cli("update", listed["id"], "I love cycling")
    assert "I love cycling" in await cli("list", "--user-id", "ana", "--after", "2020-01-01", "--output", "json")
    assert "ana" in await cli("entity", "list", "users", "--output", "json")
    await cli("add", "My sister is called Vera", "--user-id", "ana")
    assert "ADD" in await cli("event", "list", "--output", "json")
    await cli("delete", listed["id"], "--force")
    await cli("delete", "--all", "--user-id", "ana", "--force")
    assert SEARCHED not in await cli("list", "--user-id", "ana", "--output", "json")
    WORKED.append("mem0-cli 0.2.13")


async def test_the_haystack_memory_store_works(runtime: Service, tmp_path: Path) -> None:
    python = str(python_tool("mem0-haystack==1.0.0") / "python")
    ana = await program(runtime)
    host = str(runtime.client.make_url("/")).rstrip("/")

    printed = await said(python, script("mem0_haystack.py"), ana.key, host, key=ana.key, host=host, home=tmp_path)

    assert last_json(printed) == {"added": [SEARCHED], "found": [SEARCHED], "all": 1}
    WORKED.append("mem0-haystack 1.0.0")


async def test_the_strands_memory_store_works(runtime: Service, tmp_path: Path) -> None:
    python = str(python_tool("mem0-strands==0.1.1") / "python")
    ana = await program(runtime)
    host = str(runtime.client.make_url("/")).rstrip("/")

    printed = await said(python, script("mem0_strands_client.py"), ana.key, host, key=ana.key, host=host, home=tmp_path)

    assert last_json(printed) == {"found": [SEARCHED], "vera": ["My sister is called Vera"]}
    WORKED.append("mem0-strands 0.1.1")


async def test_the_mcp_server_works(runtime: Service, tmp_path: Path) -> None:
    python = str(python_tool("mem0-mcp-server==0.2.1", "mcp<2") / "python")
    ana = await program(runtime)
    host = str(runtime.client.make_url("/")).rstrip("/")

    printed = await said(python, script("mem0_mcp_client.py"), ana.key, host, key=ana.key, host=host, home=tmp_path)

    assert last_json(printed) == {"found": SEARCHED, "updated": "I love cycling", "kinds": ["app", "user"]}
    WORKED.append("mem0-mcp-server 0.2.1")


async def test_the_vercel_provider_works(runtime: Service, tmp_path: Path) -> None:
    home = node_tool("@mem0/vercel-ai-provider@3.0.2")
    ana = await program(runtime)
    host = str(runtime.client.make_url("/")).rstrip("/")

    printed = await said(
        "node", script("mem0_vercel.mjs"), str(home), ana.key, host, key=ana.key, host=host, home=tmp_path
    )

    assert last_json(printed) == {"found": SEARCHED, "got": 1, "told": True}
    WORKED.append("@mem0/vercel-ai-provider 3.0.2")


def test_the_table_of_clients_is_written() -> None:
    assert set(SEEN) == {client.name for client in ALL}, "run the whole of make clients"
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(table(SEEN), "utf-8")


def table(seen: dict[str, dict[str, str]]) -> str:
    """Client by method; a method that a client does not have is left empty."""
    methods = list(dict.fromkeys(name for results in seen.values() for name in results))
    lines = [
        "# mem0 clients against the runtime service",
        "",
        "Written by `make clients`: each released client, unmodified, is installed and driven against a running service;",
        "nothing is changed but `host` and the key. `ok`: it did what its documentation says. `refused`: it is not offered",
        "here, or not allowed, and the client raised its own error for that. Empty: the client has no such method.",
        "",
        "| method | " + " | ".join(seen) + " |",
        "| --- |" + " --- |" * len(seen),
    ]
    lines += [f"| {one} | " + " | ".join(results.get(one, "") for results in seen.values()) + " |" for one in methods]
    lines += ["", "Programs that stand on it, each added, found and, where they can, changed and forgot memories:", ""]
    lines += [f"- {one}" for one in WORKED]
    return "\n".join(lines) + "\n"
