"""Released programs that stand on the Mem0 Platform, unmodified, against the running runtime. Only with `make clients`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.acceptance.mem0_key import program
from tests.acceptance.mem0_tools import SEARCHED, last_json, python_tool, said, script
from tests.services import Service

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


async def test_the_haystack_memory_store_works(runtime: Service, tmp_path: Path) -> None:
    python = str(python_tool("mem0-haystack==1.0.0") / "python")
    ana = await program(runtime)
    host = str(runtime.client.make_url("/")).rstrip("/")

    printed = await said(python, script("mem0_haystack.py"), ana.key, host, key=ana.key, host=host, home=tmp_path)

    assert last_json(printed) == {"added": [SEARCHED], "found": [SEARCHED], "all": 1}
