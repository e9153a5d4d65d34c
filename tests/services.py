"""Both services in the test's own process, on a real database, and the tokens to call them with."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import jwt
import pytest
from aiohttp.test_utils import TestClient, TestServer

from runtime_svc.app import create_app as create_runtime
from runtime_svc.settings import RuntimeSettings
from runtimes_svc.app import create_app as create_platform
from runtimes_svc.settings import PlatformSettings

SECRET = "a-secret-of-the-tests-with-more-than-32-bytes"
MACHINE = "machine-token-of-the-tests-with-more-than-32-bytes"
OWNER = "owner-1"
PATIENT = {"MEMORY_STATEMENT_TIMEOUT": "60", "MEMORY_RECALL_BUDGET_MS": "60000", "RUNTIME_RERANK_TIMEOUT": "60"}
"""Bounds of time that a busy machine keeps to."""


def token(uid: str, *, ttl: int = 3600, secret: str = SECRET, **claims: Any) -> str:
    now = int(time.time())
    return jwt.encode({"sub": uid, "uid": uid, "iat": now, "exp": now + ttl, **claims}, secret, algorithm="HS256")


def bearer(uid: str, **claims: Any) -> dict[str, str]:
    return {"Authorization": f"Bearer {token(uid, **claims)}"}


def environment(**more: str) -> dict[str, str]:
    return {"MEMORY_JWT_SECRET": SECRET, "DATALAYER_USER_UID": OWNER, "RUNTIME_MACHINE_TOKEN": MACHINE, **more}


class Service:
    """One running service: call it as a person."""

    def __init__(self, client: TestClient) -> None:
        self.client = client

    async def call(self, method: str, path: str, *, uid: str | None = OWNER, **more: Any) -> tuple[int, Any]:
        headers = {**(bearer(uid) if uid is not None else {}), **more.pop("headers", {})}
        async with self.client.request(method, path, headers=headers, **more) as response:
            return response.status, await response.json()

    async def get(self, path: str, **more: Any) -> tuple[int, Any]:
        return await self.call("GET", path, **more)

    async def post(self, path: str, **more: Any) -> tuple[int, Any]:
        return await self.call("POST", path, **more)

    async def patch(self, path: str, **more: Any) -> tuple[int, Any]:
        return await self.call("PATCH", path, **more)

    async def put(self, path: str, **more: Any) -> tuple[int, Any]:
        return await self.call("PUT", path, **more)

    async def delete(self, path: str, **more: Any) -> tuple[int, Any]:
        return await self.call("DELETE", path, **more)


async def start_runtime(dsn: str | None) -> Service:
    client = TestClient(TestServer(create_runtime(RuntimeSettings.read(), dsn=dsn)))
    await client.start_server()
    return Service(client)


@asynccontextmanager
async def runtime_on(patch: pytest.MonkeyPatch, dsn: str | None, directory: Path) -> AsyncIterator[Service]:
    """A runtime until the block ends: on PostgreSQL, or without a DSN on the local store of a directory."""
    if dsn is None:
        patch.setenv("AGENT_RUNTIMES_MEM0_BACKEND", "faiss")
        patch.setenv("AGENT_RUNTIMES_MEM0_DIR", str(directory))
    service = await start_runtime(dsn)
    try:
        yield service
    finally:
        await service.client.close()


async def start_platform(dsn: str, *, port: int | None = None) -> Service:
    client = TestClient(TestServer(create_platform(PlatformSettings.read(), dsn=dsn), port=port))
    await client.start_server()
    return Service(client)
