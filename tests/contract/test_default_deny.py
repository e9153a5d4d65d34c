"""Who is no signed-in person reaches nothing, on every route there is, in one shape of refusal."""

from __future__ import annotations

from itertools import product

import pytest

from shared.http.auth import OPEN_PATHS
from shared.http.errors import CLIENT_DIALECTS, OPENAI
from tests.contract.routes import BODY, Route, routes_of_all
from tests.services import MACHINE, Service, bearer, token

TELLS_NOBODY_WHY = {
    "POST /api/v1/apps/tools/{app}/search_memory",
    "POST /api/v1/apps/tools/{app}/remember",
    "POST /mcp/{app}",
    "GET /mcp/{app}",
    "DELETE /mcp/{app}",
    "POST /api/v1/llm/gateway/chat/completions",
    "GET /api/v1/llm/gateway/models",
}
"""The only routes that answer nobody: with a sentence, or as a conversation in which nothing is recalled or kept. A new
one is a decision: it is written down here."""

PAGE = {
    "GET /memories",
    "GET /memories/assets/{name}",
    "POST /memories/session",
    "DELETE /memories/session",
}
"""The memory page before anybody is signed in: it holds nothing of anybody."""

BAD = {
    "expired": token("ana", ttl=-10),
    "of another secret": token("ana", secret="x" * 40),
    "of no algorithm": token("ana").rpartition(".")[0] + ".",
    "garbage": "a.b.c",
    "a key that nobody has": "m0-0123456789",
    "almost the machine's": MACHINE + "x",
    "empty": "",
}


def closed(services: list[Service]) -> list[tuple[Service, Route]]:
    return [(service, route) for service, route in routes_of_all(services) if route.template not in OPEN_PATHS]


async def check_refused(service: Service, route: Route, status: int, **headers: str) -> None:
    async with service.client.request(route.method, route.url(), json=BODY, headers=headers) as response:
        said = await response.json()
        assert response.status == status, (str(route), said)
        assert set(said) == {"detail", "error", "message", "code"}
        assert isinstance(said["detail"], str)
        error = said["error"]
        assert said["detail"] == said["message"] == (error["message"] if isinstance(error, dict) else error)
        # The OpenAI clients look for an object.
        assert isinstance(error, dict) == route.template.startswith(OPENAI)
        if status == 401:
            assert response.headers["WWW-Authenticate"] == "Bearer"


async def test_every_route_was_found(runtime: Service, platforms: list[Service]) -> None:
    assert len(closed([runtime])) >= 27
    assert len(closed(platforms)) >= 13 * len(platforms)


@pytest.mark.field("B10")
async def test_nobody_reaches_no_route_but_those_that_tell_them_why(services: list[Service]) -> None:
    for service, route in closed(services):
        if not route.answers_nobody:
            await check_refused(service, route, 401)


async def test_the_routes_that_answer_nobody_are_those_written_down(services: list[Service]) -> None:
    assert {str(route) for _, route in closed(services) if route.answers_nobody} == TELLS_NOBODY_WHY | PAGE


@pytest.mark.field("B10")
async def test_a_credential_that_does_not_hold_is_refused_on_every_route(services: list[Service]) -> None:
    for service, route in closed(services):
        for bad in BAD.values():
            await check_refused(service, route, 401, Authorization=f"Bearer {bad}")


async def test_a_visitor_who_is_no_person_is_refused_on_every_route(services: list[Service]) -> None:
    for flag in ("anonymous", "embed"):
        for service, route in closed(services):
            if not route.answers_nobody:
                await check_refused(service, route, 403, **bearer("ana", **{flag: True}))


async def test_two_credentials_and_an_unknown_key_are_refused_on_every_route(services: list[Service]) -> None:
    for service, route in closed(services):
        await check_refused(service, route, 401, **bearer("ana"), **{"X-API-Key": "m0-x"})
        await check_refused(service, route, 401, **{"X-API-Key": "m0-x"})
        await check_refused(service, route, 401, Authorization="Token m0-x")
        await check_refused(service, route, 401, Authorization="Basic YW5hOmFuYQ==")


@pytest.mark.field("B98")
async def test_an_ordinary_token_acts_for_nobody_on_every_route(services: list[Service]) -> None:
    for service, route in closed(services):
        await check_refused(service, route, 403, **bearer("ana"), **{"X-On-Behalf-Of": "bob"})
        bad_value = 400 if route.template.startswith(CLIENT_DIALECTS) else 422
        await check_refused(service, route, bad_value, **bearer("ana"), **{"X-On-Behalf-Of": "*"})


async def test_what_does_not_exist_is_not_told_to_nobody(services: list[Service]) -> None:
    for service, path in product(services, ("/", "/api", "/api/v1/apps/none", "/healthz/x", "/.env")):
        async with service.client.get(path) as response:
            assert response.status == 401
        async with service.client.get(path, headers=bearer("ana")) as response:
            assert response.status == 404


async def test_a_method_that_an_address_does_not_answer_is_405_with_those_it_does(services: list[Service]) -> None:
    for service, route in closed(services):
        async with service.client.request("TRACE", route.url(), headers=bearer("ana")) as response:
            assert response.status == 405, str(route)
            assert route.method in response.headers["Allow"]
            assert isinstance((await response.json())["detail"], str)
