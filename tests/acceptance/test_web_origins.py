"""A web page calls only from an origin that the operator named, and then can read every answer, refusals too."""

from __future__ import annotations

import pytest

from tests.services import bearer, start_platform

PAGE = "https://app.example"
SHARES = "/api/runtimes/v1/memory-shares"
ASKS = {
    "Access-Control-Request-Method": "PUT",
    "Access-Control-Request-Headers": "authorization,cache-control,content-type,pragma",
}


@pytest.fixture
async def platform(settings_environment: pytest.MonkeyPatch, database: str):
    settings_environment.setenv("MEMORY_WEB_ORIGINS", f"{PAGE}, http://localhost:3000")
    service = await start_platform(database)
    yield service
    await service.client.close()


async def test_the_preflight_of_a_named_origin_allows_what_the_released_client_sends(platform) -> None:
    async with platform.client.options(SHARES, headers={"Origin": PAGE, **ASKS}) as response:
        assert response.status == 200
        assert await response.json() == {}
        assert response.headers["Access-Control-Allow-Origin"] == PAGE
        assert response.headers["Access-Control-Allow-Credentials"] == "true"
        allowed = response.headers["Access-Control-Allow-Headers"].lower().split(", ")
        assert set(ASKS["Access-Control-Request-Headers"].split(",")) <= set(allowed)
        methods = response.headers["Access-Control-Allow-Methods"].split(", ")
        assert {"GET", "PUT", "PATCH", "DELETE"} <= set(methods)


@pytest.mark.parametrize("credential", [{}, bearer("ana")])
async def test_every_answer_to_a_named_origin_can_be_read_by_it(platform, credential) -> None:
    for path in (SHARES, "/none"):
        async with platform.client.get(path, headers={"Origin": PAGE, **credential}) as response:
            assert response.headers["Access-Control-Allow-Origin"] == PAGE
            assert "Origin" in response.headers["Vary"]


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "https://app.example.evil.example", "http://app.example", ""]
)
async def test_another_origin_is_given_nothing(platform, origin: str) -> None:
    async with platform.client.options(SHARES, headers={"Origin": origin, **ASKS}) as response:
        assert response.status == 401
        assert "Access-Control-Allow-Origin" not in response.headers
    async with platform.client.get(SHARES, headers={"Origin": origin, **bearer("ana")}) as response:
        assert "Access-Control-Allow-Origin" not in response.headers
