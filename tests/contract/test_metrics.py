"""`/metrics`: numbers for operators, by route; nothing of anybody, and no more of them than there are routes."""

from __future__ import annotations

import re

from prometheus_client.parser import text_string_to_metric_families

from tests.services import Service

APP = "/api/v1/apps/memories"


async def numbers(service: Service) -> dict[tuple[str, ...], float]:
    """Each by its name and the values of its labels."""
    async with service.client.get("/metrics") as response:
        assert response.status == 200
        assert response.headers["Content-Type"].startswith("text/plain; version=")
        families = text_string_to_metric_families(await response.text())
        return {(one.name, *one.labels.values()): one.value for family in families for one in family.samples}


async def test_requests_are_counted_and_timed_by_the_template_of_their_route(services: list[Service]) -> None:
    for service in services:
        for path in ("/healthz", "/api/v1/apps/memory-access", "/nowhere", "/elsewhere"):
            await service.get(path)
        found = await numbers(service)

        assert found["runtime_memory_requests_total", "GET", "/healthz", "200"] == 1
        assert found["runtime_memory_request_seconds_count", "GET", "/healthz"] == 1
        assert found["runtime_memory_requests_total", "GET", "unmatched", "404"] >= 2


async def test_nothing_of_anybody_stands_in_the_numbers(runtime: Service) -> None:
    for n in range(3):
        await runtime.post(f"{APP}/zanzibar{n}", json={"memory": "zanzibar", "wait": True}, uid=f"zanzibar{n}")
        await runtime.get(f"{APP}/zanzibar{n}/zanzibar", params={"zanzibar": n}, uid="zanzibar")
        await runtime.call("PROPFIND", f"/zanzibar{n}")
    found = await numbers(runtime)

    assert not [name for name in found if "zanzibar" in str(name).lower()]
    routes = {name[2] for name in found if name[0] == "runtime_memory_requests_total"}
    assert routes <= {route.resource.canonical for route in runtime.client.app.router.routes() if route.resource} | {
        "unmatched"
    }


async def test_the_queue_and_the_pool_are_seen(runtime: Service) -> None:
    found = await numbers(runtime)

    assert found[("runtime_memory_queue_depth",)] == 0
    pool = [value for name, value in found.items() if re.search("pool", name[0])]
    assert pool in ([], [0])
