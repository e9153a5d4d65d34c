"""The services as a contract is held by them: on both stores. The local one has no platform beside it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.services import Service, start_platform, start_runtime


@pytest.fixture(params=["postgres", "local"])
def dsn(request: pytest.FixtureRequest) -> str | None:
    """Where PostgreSQL is; None for the local store."""
    return request.getfixturevalue("database") if request.param == "postgres" else None


@pytest.fixture
async def runtime(settings_environment: pytest.MonkeyPatch, dsn: str | None, tmp_path: Path) -> AsyncIterator[Service]:
    if dsn is None:
        settings_environment.setenv("AGENT_RUNTIMES_MEM0_BACKEND", "faiss")
        settings_environment.setenv("AGENT_RUNTIMES_MEM0_DIR", str(tmp_path / "store"))
    service = await start_runtime(dsn)
    yield service
    await service.client.close()


@pytest.fixture
async def platforms(settings_environment: pytest.MonkeyPatch, dsn: str | None) -> AsyncIterator[list[Service]]:
    """The platform on the same database, or none."""
    services = [] if dsn is None else [await start_platform(dsn)]
    yield services
    for service in services:
        await service.client.close()


@pytest.fixture
def services(runtime: Service, platforms: list[Service]) -> list[Service]:
    """All there are."""
    return [runtime, *platforms]
