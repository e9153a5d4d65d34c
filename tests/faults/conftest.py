"""Both services on one database, at the end of a wire."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from shared.db.pool import Limits
from tests.faults.proxy import Wire, wire
from tests.services import Service, start_platform, start_runtime


@pytest.fixture
async def line(database: str) -> AsyncIterator[Wire]:
    async with wire(database) as one:
        yield one


@pytest.fixture
def impatient(settings_environment: pytest.MonkeyPatch) -> None:
    """A statement takes a second at most, in services that are asked for after this."""
    settings_environment.setenv("MEMORY_STATEMENT_TIMEOUT", "1")
    settings_environment.setattr(Limits.__init__, "__defaults__", (10, 5.0, 1.0, 5.0, True))


@pytest.fixture
def hurried(settings_environment: pytest.MonkeyPatch) -> None:
    """A connection is waited for a second at most, in services that are asked for after this."""
    settings_environment.setattr(Limits.__init__, "__defaults__", (10, 1.0, 60.0, 60.0, True))


@pytest.fixture
async def wired(settings_environment: pytest.MonkeyPatch, line: Wire) -> AsyncIterator[list[Service]]:
    """The runtime and the platform behind the wire, with two connections each."""
    settings_environment.setenv("MEMORY_POOL_SIZE", "2")
    services = [await start_runtime(line.dsn), await start_platform(line.dsn)]
    yield services
    line.let_go()
    for service in services:
        await service.client.close()


@pytest.fixture(params=["postgres", "local"])
def dsn(request: pytest.FixtureRequest) -> str | None:
    """Where PostgreSQL is; None for the local store."""
    return request.getfixturevalue("database") if request.param == "postgres" else None


@pytest.fixture
async def either(dsn: str | None, settings_environment: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Service]:
    """The runtime on each store in turn."""
    if dsn is None:
        settings_environment.setenv("AGENT_RUNTIMES_MEM0_BACKEND", "faiss")
        settings_environment.setenv("AGENT_RUNTIMES_MEM0_DIR", str(tmp_path / "kept"))
    service = await start_runtime(dsn)
    yield service
    await service.client.close()
