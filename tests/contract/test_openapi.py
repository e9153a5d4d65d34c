"""`/openapi.json`: the routes there are and the bodies they read; and every operation of it answers in its own shape."""

from __future__ import annotations

import asyncio
import inspect
import re

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from runtime_svc.bodies import BODIES as OF_RUNTIME
from runtimes_svc.bodies import BODIES as OF_PLATFORM
from tests.contract.routes import routes_of
from tests.services import Service, bearer

EXAMPLES = 3
CHECKED = (schemathesis.checks.not_a_server_error,)


async def document(service: Service) -> dict:
    async with service.client.get("/openapi.json") as response:
        assert response.status == 200
        return await response.json()


async def test_every_route_stands_in_the_document_and_no_other(services: list[Service]) -> None:
    for service in services:
        found = await document(service)
        there = {f"{method.upper()} {path}" for path, item in found["paths"].items() for method in item}
        assert found["openapi"] == "3.1.0"
        assert there == {str(route) for route in routes_of(service.client.app)}
        names = [one["operationId"] for item in found["paths"].values() for one in item.values()]
        assert len(names) == len(set(names))
        assert all(one["summary"] for item in found["paths"].values() for one in item.values())


async def test_every_handler_that_reads_a_model_says_so_in_the_document(services: list[Service]) -> None:
    for service, bodies in zip(services, (OF_RUNTIME, OF_PLATFORM), strict=False):
        for route in service.client.app.router.routes():
            read = re.search(r"body\.read\(request, (\w+)\)", inspect.getsource(route.handler))
            if read is not None:
                assert bodies[route.handler].__name__ == read[1], route.handler


# Schemathesis draws at random in its own strategies.
@pytest.mark.filterwarnings("ignore:Do not use the .random. module:hypothesis.errors.HypothesisDeprecationWarning")
@pytest.mark.timeout(400)
async def test_whatever_the_document_allows_is_answered_without_a_fault(services: list[Service]) -> None:
    for service in services:
        described = schemathesis.openapi.from_dict(await document(service))
        await asyncio.to_thread(drive, described, str(service.client.make_url("/")))


def drive(described: schemathesis.BaseSchema, address: str) -> None:
    for found in described.get_all_operations():
        operation = found.ok()
        if "/gateway/chat/" in operation.path or operation.path.endswith("/gateway/models"):
            continue  # They answer 503 where no provider is configured, and say so.

        @settings(max_examples=EXAMPLES, deadline=None, database=None, derandomize=True, phases=[Phase.generate], suppress_health_check=list(HealthCheck))  # fmt: skip
        @given(case=operation.as_strategy())
        def answers(case: schemathesis.Case) -> None:
            response = case.call(base_url=address, headers=bearer("ana"))
            case.validate_response(response, checks=CHECKED)
            if response.status_code >= 400 and not case.path.startswith("/mcp/"):
                assert isinstance(response.json()["detail"], str)

        answers()
