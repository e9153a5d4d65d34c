"""Released mem0 clients, unmodified, against the running runtime: every public method. `make clients` drives them all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.acceptance.mem0_clients import ALL, SHORT, Client
from tests.acceptance.mem0_key import program
from tests.services import Service

pytestmark = pytest.mark.timeout(1200)  # the first run fetches the released packages

DRIVEN = ALL if os.environ.get("CLIENTS") == "all" else SHORT
TABLE = Path(__file__).parents[2] / "docs" / "mem0-clients.md"
FINE = ("ok", "refused", "ok (and the client then fails on its own)")
_SEEN: dict[str, dict[str, str]] = {}


@pytest.mark.parametrize("client", DRIVEN, ids=lambda client: client.name)
async def test_every_method_of_a_released_client_works(runtime: Service, client: Client) -> None:
    ana = await program(runtime)

    results = await client.drive(ana.key, str(runtime.client.make_url("/")).rstrip("/"))

    _SEEN[client.name] = results
    assert {name: result for name, result in results.items() if result not in FINE} == {}
    assert len(results) > 15


@pytest.mark.skipif(DRIVEN is not ALL, reason="the table is of all clients: make clients")
def test_the_table_of_clients_is_written() -> None:
    assert set(_SEEN) == {client.name for client in ALL}
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(table(_SEEN), "utf-8")


def table(seen: dict[str, dict[str, str]]) -> str:
    """Client by method; a method that a client does not have is left empty."""
    methods = list(dict.fromkeys(name for results in seen.values() for name in results))
    lines = [
        "# mem0 clients against the runtime service",
        "",
        "Written by `make clients`: each released client, unmodified, is installed and driven against a running service;",
        "nothing is changed but `host` and the key. `ok`: it did what its documentation says. `refused`: it is not offered",
        "here, or not allowed, and the client raised its own error for that. Empty: the client has no such method.",
        "",
        "| method | " + " | ".join(seen) + " |",
        "| --- |" + " --- |" * len(seen),
    ]
    lines += [f"| {one} | " + " | ".join(results.get(one, "") for results in seen.values()) + " |" for one in methods]
    return "\n".join(lines) + "\n"
