"""Both services together, as they are deployed: the runtime asks the platform what a person allowed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.ports import free_port
from tests.services import Service, start_platform, start_runtime


@dataclass
class Together:
    """A runtime and the platform that it asks. The platform can be stopped and started again at its address."""

    runtime: Service
    platform: Service
    database: str

    @property
    def address(self) -> str:
        return str(self.platform.client.make_url("/"))

    async def stop_platform(self) -> int:
        port = self.platform.client.port
        await self.platform.client.close()
        return port

    async def start_platform(self, port: int) -> None:
        self.platform = await start_platform(self.database, port=port)


@pytest.fixture
async def together(settings_environment: pytest.MonkeyPatch, database: str) -> AsyncIterator[Together]:
    platform = await start_platform(database, port=free_port())
    settings_environment.delenv("RUNTIME_SHARES")
    settings_environment.setenv("DATALAYER_RUNTIMES_URL", str(platform.client.make_url("/")))
    found = Together(await start_runtime(database), platform, database)
    yield found
    await found.runtime.client.close()
    await found.platform.client.close()


@pytest.fixture(params=["postgres", "local"])
async def engine_service(
    request: pytest.FixtureRequest, settings_environment: pytest.MonkeyPatch, database: str, tmp_path: Path
) -> AsyncIterator[Service]:
    """The runtime, empty, on each engine in turn: for promises that hold on both."""
    if request.param == "local":
        settings_environment.setenv("AGENT_RUNTIMES_MEM0_BACKEND", "faiss")
        settings_environment.setenv("AGENT_RUNTIMES_MEM0_DIR", str(tmp_path / "local"))
    service = await start_runtime(database if request.param == "postgres" else None)
    yield service
    await service.client.close()
