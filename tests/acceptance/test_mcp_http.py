"""MCP over HTTP: which hosts and origins may speak, what is too large or cannot be read, and what there is not."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from tests.services import Service, bearer, start_runtime


async def test_a_host_or_an_origin_that_is_not_named_is_refused_in_our_shape(runtime: Service) -> None:
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"Accept": "application/json, text/event-stream", **bearer("owner-1")}

    for headers, status in (
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost.evil.example"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
    ):
        for version in ("2025-11-25", "2026-07-28"):
            got, said = await runtime.call(
                "POST",
                "/mcp/app-1",
                uid=None,
                json=listing,
                headers={**accept, **headers, "MCP-Protocol-Version": version},
            )
            if status == 200 and version == "2026-07-28":
                assert got == 400, said
                continue
            assert got == status, said
            if status != 200:
                assert said["detail"] == said["error"] == said["message"]


async def test_hosts_and_origins_are_named_by_settings(settings_environment: pytest.MonkeyPatch, database: str) -> None:
    settings_environment.setenv("MEMORY_MCP_ALLOWED_HOSTS", "memory.example, memory.example:*")
    settings_environment.setenv("MEMORY_MCP_ALLOWED_ORIGINS", "https://page.example")
    runtime = await start_runtime(database)
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"Accept": "application/json", **bearer("owner-1")}
    try:
        for headers, status in (
            ({"Host": "memory.example", "Origin": "https://page.example"}, 200),
            ({"Host": "memory.example:443"}, 200),
            ({"Host": "memory.example", "Origin": "http://localhost"}, 403),
            ({}, 421),
        ):
            got, said = await runtime.post("/mcp/app-1", uid=None, json=listing, headers={**accept, **headers})
            assert got == status, said
    finally:
        await runtime.client.close()


async def test_a_message_that_cannot_be_read_or_is_too_large_is_refused(runtime: Service) -> None:
    headers = {"Accept": "application/json, text/event-stream", **bearer("owner-1")}
    as_json = {**headers, "Content-Type": "application/json"}
    large = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"x": "y" * 1_100_000}}).encode()

    async def post(raw: bytes, sent: dict[str, str]) -> tuple[int, Any]:
        return await runtime.post("/mcp/app-1", uid=None, data=io.BytesIO(raw), headers=sent)

    status, said = await post(large, as_json)
    assert (status, said["code"]) == (413, "request_entity_too_large")
    assert said["detail"] == said["error"] == said["message"]
    assert (await post(b"{}", {**headers, "Content-Type": "text/plain"}))[0] == 415
    for raw in (b"{", b"[]", b"null", b"\xff", b"", b"[" * 100_000, b'{"jsonrpc": "2.0"}'):
        for version in ("2025-11-25", "2026-07-28"):
            status, said = await post(raw, {**as_json, "MCP-Protocol-Version": version})
            assert (status, said["jsonrpc"]) == (400, "2.0"), (raw, version, said)


async def test_lone_surrogates_never_reach_the_store_nor_break_an_answer(runtime: Service) -> None:
    headers = {"Accept": "application/json", "Content-Type": "application/json", **bearer("owner-1")}
    raw = (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call",'
        b'"params":{"name":"remember","arguments":{"content":"a\\ud800b"}}}'
    )

    status, said = await runtime.post("/mcp/app-1", uid=None, data=io.BytesIO(raw), headers=headers)

    assert status in (200, 400), said
    assert status == 400 or said["result"]["isError"]
    assert (await runtime.get("/api/v1/apps/memories/app-1"))[1]["total"] == 0


async def test_there_is_no_stream_and_no_session(runtime: Service) -> None:
    for method in ("GET", "DELETE"):
        for uid in ("owner-1", None):
            async with runtime.client.request(method, "/mcp/app-1", headers=bearer(uid) if uid else {}) as response:
                assert (response.status, response.headers["Allow"]) == (405, "POST")


async def test_a_credential_that_does_not_hold_or_an_application_that_is_none_is_refused(runtime: Service) -> None:
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}

    status, _ = await runtime.post("/mcp/app-1", uid=None, json=listing, headers={"Authorization": "Bearer nonsense"})
    assert status == 401
    for app in ("app:app-1", "%20", "*"):
        assert (await runtime.post(f"/mcp/{app}", json=listing))[0] == 422
