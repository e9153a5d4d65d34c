"""The services as a contract is held by them: on both stores. The local one has no platform beside it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.services import Service, runtime_on, start_platform


@pytest.fixture(params=["postgres", "local"])
def dsn(request: pytest.FixtureRequest) -> str | None:
    """Where PostgreSQL is; None for the local store."""
    return request.getfixturevalue("database") if request.param == "postgres" else None


@pytest.fixture
async def runtime(settings_environment: pytest.MonkeyPatch, dsn: str | None, tmp_path: Path) -> AsyncIterator[Service]:
    async with runtime_on(settings_environment, dsn, tmp_path / "store") as service:
        yield service


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
