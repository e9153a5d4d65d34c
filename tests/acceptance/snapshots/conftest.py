"""Each test on each engine: the platform on PostgreSQL, or the runtime alone on the local store."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.services import Service, start_platform


@pytest.fixture
def runtime(engine_service: Service) -> Service:
    """On each engine in turn."""
    return engine_service


@pytest.fixture
async def platform(runtime: Service, request: pytest.FixtureRequest, database: str) -> AsyncIterator[Service]:
    """Where a person's whole memory is: the platform, or the runtime that has none beside it."""
    if request.node.callspec.params["engine_service"] == "local":
        yield runtime
        return
    service = await start_platform(database)
    yield service
    await service.client.close()
