"""Released mem0 clients, unmodified, against a runtime on each store: every public method. `make clients` drives them all."""

from __future__ import annotations

import os

import pytest

from tests.acceptance.mem0_clients import ALL, SEEN, SHORT, Client
from tests.acceptance.mem0_key import program
from tests.services import Service

pytestmark = pytest.mark.timeout(1200)  # the first run fetches the released packages

DRIVEN = ALL if os.environ.get("CLIENTS") == "all" else SHORT
FINE = ("ok", "refused", "ok (and the client then fails on its own)")


@pytest.mark.parametrize("client", DRIVEN, ids=lambda client: client.name)
async def test_every_method_of_a_released_client_works(engine_service: Service, client: Client) -> None:
    ana = await program(engine_service)

    results = await client.drive(ana.key, str(engine_service.client.make_url("/")).rstrip("/"))

    SEEN[client.name] = results
    assert {name: result for name, result in results.items() if result not in FINE} == {}
    assert len(results) > 15
