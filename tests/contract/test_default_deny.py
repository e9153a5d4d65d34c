"""Who is no signed-in person reaches nothing, on every route there is, in one shape of refusal."""

from __future__ import annotations

import pytest

from shared.http.auth import OPEN_PATHS
from shared.http.errors import CLIENT_DIALECTS, OPENAI
from tests.contract.routes import BODY, routes_of
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
"""The only routes that answer nobody, with a sentence, or with a conversation that no memory has a part in. A new one is a decision: it is written down here."""

BAD = {
    "expired": token("ana", ttl=-10),
    "of another secret": token("ana", secret="x" * 40),
    "of no algorithm": token("ana").rpartition(".")[0] + ".",
    "garbage": "a.b.c",
    "a key that nobody has": "m0-0123456789",
    "almost the machine's": MACHINE + "x",
    "empty": "",
}


@pytest.fixture(params=["runtime", "platform"])
def service(request: pytest.FixtureRequest, runtime: Service, platform: Service) -> Service:
    return runtime if request.param == "runtime" else platform


def closed(service: Service):
    return [route for route in routes_of(service.client.app) if route.template not in OPEN_PATHS]


async def refused(service: Service, route, status: int, **headers: str) -> None:
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


async def test_every_route_was_found(runtime: Service, platform: Service) -> None:
    assert len(closed(runtime)) >= 13
    assert len(closed(platform)) >= 10


@pytest.mark.field("B10")
async def test_nobody_reaches_no_route_but_those_that_tell_them_why(service: Service) -> None:
    for route in closed(service):
        if not route.answers_nobody:
            await refused(service, route, 401)


async def test_the_routes_that_answer_nobody_are_those_written_down(runtime: Service, platform: Service) -> None:
    assert {str(route) for route in closed(runtime) if route.answers_nobody} == TELLS_NOBODY_WHY
    assert {str(route) for route in closed(platform) if route.answers_nobody} == set()


@pytest.mark.field("B10")
async def test_a_credential_that_does_not_hold_is_refused_on_every_route(service: Service) -> None:
    for route in closed(service):
        for bad in BAD.values():
            await refused(service, route, 401, Authorization=f"Bearer {bad}")


async def test_a_visitor_who_is_no_person_is_refused_on_every_route(service: Service) -> None:
    for flag in ("anonymous", "embed"):
        for route in closed(service):
            if not route.answers_nobody:
                await refused(service, route, 403, **bearer("ana", **{flag: True}))


async def test_two_credentials_and_an_unknown_key_are_refused_on_every_route(service: Service) -> None:
    for route in closed(service):
        await refused(service, route, 401, **bearer("ana"), **{"X-API-Key": "m0-x"})
        await refused(service, route, 401, **{"X-API-Key": "m0-x"})
        await refused(service, route, 401, Authorization="Token m0-x")
        await refused(service, route, 401, Authorization="Basic YW5hOmFuYQ==")


@pytest.mark.field("B98")
async def test_an_ordinary_token_acts_for_nobody_on_every_route(service: Service) -> None:
    for route in closed(service):
        await refused(service, route, 403, **bearer("ana"), **{"X-On-Behalf-Of": "bob"})
        bad_value = 400 if route.template.startswith(CLIENT_DIALECTS) else 422
        await refused(service, route, bad_value, **bearer("ana"), **{"X-On-Behalf-Of": "*"})


async def test_what_does_not_exist_is_not_told_to_nobody(service: Service) -> None:
    for path in ("/", "/api", "/api/v1/apps/none", "/healthz/x", "/.env"):
        async with service.client.get(path) as response:
            assert response.status == 401
        async with service.client.get(path, headers=bearer("ana")) as response:
            assert response.status == 404


async def test_a_method_that_an_address_does_not_answer_is_405_with_those_it_does(service: Service) -> None:
    for route in closed(service):
        async with service.client.request("TRACE", route.url(), headers=bearer("ana")) as response:
            assert response.status == 405
            assert route.method in response.headers["Allow"]
            assert isinstance((await response.json())["detail"], str)
