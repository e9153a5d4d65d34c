"""What is no HTTP request at all: refused in the one shape, and quoted neither to the caller nor in a log."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from runtime_svc.app import create_app
from runtime_svc.settings import RuntimeSettings
from shared.http.unreadable import Runner
from tests.services import Service, bearer, token

SECRET = "swordfish"
HEAD = "Host: x\r\nContent-Type: application/json\r\n"
BODY = f"POST /v3/memories/add/ HTTP/1.1\r\n{HEAD}Authorization: Bearer {{token}}\r\n"


@pytest.fixture
async def port(settings_environment: pytest.MonkeyPatch, database: str) -> AsyncIterator[int]:
    """Where a runtime listens that runs as the process does."""
    runner = Runner(create_app(RuntimeSettings.read(), dsn=database), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield runner.addresses[0][1]
    await runner.cleanup()


async def sent(port: int, request: str) -> tuple[int, dict[str, Any]]:
    """The status and the body of what comes back until the connection is closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request.encode("latin-1"))
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    assert b"Content-Type: application/json" in head
    return int(head.split()[1]), json.loads(body)


@pytest.mark.parametrize(
    "request_text",
    [
        f"{SECRET}\r\n\r\n",
        f"GET /v1/ping/?q={SECRET}{'x' * 9000} HTTP/1.1\r\n{HEAD}\r\n",
        f"GET /v1/ping/ HTTP/1.1\r\n{HEAD}Authorization: Bearer {SECRET}{'x' * 9000}\r\n\r\n",
        f"GET /v1/ping/ HTTP/1.1\r\n{HEAD}Authorization: Bearer \0{SECRET}\r\n\r\n",
        f"{BODY}Content-Length: -{SECRET}\r\n\r\n{{}}",
        f"{BODY}Transfer-Encoding: chunked\r\n\r\n{SECRET}\r\n",
    ],
    ids=["no method", "address too long", "header too long", "NUL in a header", "no length", "no chunk"],
)
async def test_what_is_no_request_is_refused_in_the_one_shape_and_never_quoted(
    port: int, request_text: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    status, said = await sent(port, request_text.replace("{token}", token("ana")))

    assert status == 400
    assert said["detail"] == said["error"] == said["message"]
    assert said["code"] == "unreadable"
    written = capfd.readouterr()
    assert SECRET not in json.dumps(said) + written.out + written.err + caplog.text


@pytest.mark.field("B83")
async def test_a_body_that_is_not_the_gzip_it_says_is_refused(runtime: Service) -> None:
    headers = {**bearer("ana"), "Content-Type": "application/json", "Content-Encoding": "gzip"}
    whole = gzip.compress(b'{"memory": "I like tea"}')
    for raw in (b"not gzip!", whole[:-9] + b"garbage!!"):
        async with runtime.client.post("/api/v1/apps/memories/desk", headers=headers, data=raw) as response:
            said = await response.json()
        assert response.status == 400, said
        assert said["detail"] == said["error"] == said["message"] == "The body is not encoded as its headers say."
