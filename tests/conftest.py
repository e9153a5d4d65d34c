"""What every test may ask for: one PostgreSQL for the session, and a database of one's own."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest
from aiohttp import ClientTimeout
from hypothesis import HealthCheck
from hypothesis import settings as properties

from runtime_svc.engine.entities import Mem0Entities
from shared.db.embedded import ROLE, EmbeddedServer
from shared.db.pool import Limits
from tests.services import PATIENT, Service, environment, start_platform, start_runtime

# However slow the machine is just now, an example is not too slow.
properties.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
properties.load_profile("any machine")


@pytest.fixture(scope="session", autouse=True)
def patience() -> Iterator[None]:
    """Bounds of time that no test is about are a minute: what a busy machine takes longer for is not refused."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Limits.__init__, "__defaults__", (10, 60.0, 60.0, 60.0, True))
        patch.setattr(Mem0Entities.__init__, "__kwdefaults__", {"seconds": 60.0})
        patch.setattr("shared.db.preparing._PATIENCE", 60.0)
        patch.setattr("shared.stores.local.lanes._PATIENCE", 60.0)
        patch.setattr("shared.jwks._TIMEOUT", ClientTimeout(total=60))
        patch.setattr("runtime_svc.shares._TIMEOUT", ClientTimeout(total=60))
        yield


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[EmbeddedServer]:
    """An embedded server of this test session, fast rather than durable, stopped at its end."""
    # Not pytest's temporary directory: another session closes that one to the user PostgreSQL runs as.
    directory = Path(tempfile.mkdtemp(prefix="rm-tests-"))
    server = asyncio.run(EmbeddedServer.hold(directory / "pg", durable=False))
    yield server
    asyncio.run(server.release())
    shutil.rmtree(directory)


@pytest.fixture
async def database(postgres_server: EmbeddedServer) -> AsyncIterator[str]:
    """The DSN of a fresh database with the extension `vector`, owned by the plain role that the services connect as."""
    name = f"test_{secrets.token_hex(6)}"
    admin = await asyncpg.connect(postgres_server.admin_dsn)
    try:
        await admin.execute(f"CREATE DATABASE {name} TEMPLATE {ROLE} OWNER {ROLE} STRATEGY FILE_COPY")
        yield postgres_server.dsn_of(name, role=ROLE)
        await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        await admin.close()


_OURS = ("DATALAYER_", "AGENT_RUNTIMES_", "MEMORY_", "RUNTIME_", "OPENROUTER_", "OPENAI_", "MEM0_")


@pytest.fixture
def settings_environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The environment of a service under test: ours only."""
    for name in [name for name in os.environ if name.startswith(_OURS)]:
        monkeypatch.delenv(name)
    for name, value in environment(RUNTIME_SHARES="off", **PATIENT).items():
        monkeypatch.setenv(name, value)
    return monkeypatch


@pytest.fixture
async def runtime(settings_environment: pytest.MonkeyPatch, database: str) -> AsyncIterator[Service]:
    """The runtime service on a database of its own."""
    service = await start_runtime(database)
    yield service
    await service.client.close()


@pytest.fixture
async def platform(settings_environment: pytest.MonkeyPatch, database: str) -> AsyncIterator[Service]:
    """The platform service on the same database as the runtime."""
    service = await start_platform(database)
    yield service
    await service.client.close()


@pytest.fixture(scope="module")
def prepared_dsn(postgres_server: EmbeddedServer) -> Iterator[str]:
    """The DSN of a fresh database for a whole module, whose tests start their services themselves."""
    name = f"module_{secrets.token_hex(6)}"

    async def run(statement: str) -> None:
        admin = await asyncpg.connect(postgres_server.admin_dsn)
        await admin.execute(statement)
        await admin.close()

    asyncio.run(run(f"CREATE DATABASE {name} TEMPLATE {ROLE} OWNER {ROLE} STRATEGY FILE_COPY"))
    yield postgres_server.dsn_of(name, role=ROLE)
    asyncio.run(run(f"DROP DATABASE {name} WITH (FORCE)"))
