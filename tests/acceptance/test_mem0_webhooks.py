"""Webhooks: told of a person's changes, signed, again after a failure, never at a private address unless allowed."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from runtime_svc.webhooks.registered import may_reach
from tests.acceptance.mem0_key import Program, program
from tests.acceptance.test_api_keys import impersonating
from tests.services import Service, start_runtime

HOOKS = "/api/v1/webhooks/projects/default/"


class Receiver:
    """What a person's program received; it fails as often as it is told to."""

    def __init__(self) -> None:
        self.seen: list[tuple[dict[str, str], bytes]] = []
        self.failures = 0

    async def take(self, request: web.Request) -> web.Response:
        if self.failures:
            self.failures -= 1
            return web.Response(status=500)
        self.seen.append((dict(request.headers), await request.read()))
        return web.Response(text="ok")

    async def told(self, count: int) -> list[Any]:
        for _ in range(200):
            if len(self.seen) >= count:
                break
            await asyncio.sleep(0.05)
        return [json.loads(raw)["event_details"] for _, raw in self.seen]


@pytest.fixture
async def receiver() -> AsyncIterator[tuple[Receiver, str]]:
    found = Receiver()
    app = web.Application()
    app.router.add_post("/hook", found.take)
    async with TestServer(app) as server:
        yield found, str(server.make_url("/hook"))


@pytest.fixture
async def private_runtime(settings_environment: pytest.MonkeyPatch, database: str) -> AsyncIterator[Service]:
    settings_environment.setenv("RUNTIME_WEBHOOKS_PRIVATE", "1")
    service = await start_runtime(database)
    yield service
    await service.client.close()


async def hooked(service: Service, url: str, *events: str, **said: Any) -> tuple[Program, dict[str, Any]]:
    ana = await program(service, **said)
    project = (await ana.call("GET", "/v1/ping/"))["project_id"]
    path = f"/api/v1/webhooks/projects/{project}/"
    return ana, await ana.call("POST", path, json={"url": url, "name": "hook", "event_types": list(events)}, status=201)


async def test_a_webhook_is_told_of_what_it_asked_for_signed(
    private_runtime: Service, receiver: tuple[Receiver, str]
) -> None:
    received, url = receiver
    ana, hook = await hooked(private_runtime, url, "memory_add", "memory_delete")
    item = await ana.add("I love tea")
    await ana.call("PUT", f"/v1/memories/{item['id']}/", json={"text": "I love jam"})
    await received.told(1)
    await ana.call("DELETE", f"/v1/memories/{item['id']}/")

    told = await received.told(2)
    assert [(one["event"], one["id"]) for one in told] == [("ADD", item["id"]), ("DELETE", item["id"])]
    assert told[1]["data"] == {"memory": None}
    for headers, raw in received.seen:
        signed = hmac.new(hook["secret"].encode(), headers["X-Webhook-Timestamp"].encode() + b"." + raw, hashlib.sha256)
        assert headers["X-Webhook-Signature"] == f"sha256={signed.hexdigest()}"


async def test_a_webhook_is_told_of_categories(private_runtime: Service, receiver: tuple[Receiver, str]) -> None:
    received, url = receiver
    ana, _ = await hooked(private_runtime, url, "memory_categorize")
    item = await ana.add("I love hiking", custom_categories=[{"outdoors": "hiking, mountains"}])

    assert await received.told(1) == [{"event": "CATEGORIZE", "memory_id": item["id"], "categories": ["outdoors"]}]


async def test_a_failure_is_tried_again(private_runtime: Service, receiver: tuple[Receiver, str]) -> None:
    received, url = receiver
    received.failures = 1
    ana, _ = await hooked(private_runtime, url, "memory_add")
    await ana.add("I love tea")

    assert [one["data"]["memory"] for one in await received.told(1)] == ["I love tea"]


async def test_a_webhook_of_a_bound_key_hears_of_its_application_only_and_of_its_owner_only(
    private_runtime: Service, receiver: tuple[Receiver, str]
) -> None:
    received, url = receiver
    shop, _ = await hooked(private_runtime, url, "memory_add", application="shop")
    await (await program(private_runtime)).add("at home", app_id="home")
    ben = await program(private_runtime, "ben")
    await ben.add("his", user_id="ben", app_id="shop")
    await shop.add("in the shop")

    assert [one["data"]["memory"] for one in await received.told(1)] == ["in the shop"]


async def test_who_acts_for_another_sets_up_no_webhook(
    runtime: Service, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, hook = await hooked(runtime, "https://example.com/hook", "memory_add")
    ops = Program(runtime, await impersonating(database, monkeypatch))
    as_ana = {"X-On-Behalf-Of": "ana"}
    said = {"url": "https://example.org/hook", "event_types": ["memory_add"]}

    await ops.call("POST", HOOKS, json=said, headers=as_ana, status=403)
    await ops.call("PUT", f"/api/v1/webhooks/{hook['webhook_id']}/", json=said, headers=as_ana, status=403)
    assert [one["url"] for one in await ana.call("GET", HOOKS)] == ["https://example.com/hook"]
    await ops.call("POST", HOOKS, json=said, status=201)


async def test_a_webhook_that_was_removed_is_told_nothing_that_still_waits(
    private_runtime: Service, receiver: tuple[Receiver, str]
) -> None:
    received, url = receiver
    received.failures = 1
    ana, hook = await hooked(private_runtime, url, "memory_add")
    await ana.add("I love tea")
    while received.failures:
        await asyncio.sleep(0.01)
    await ana.call("DELETE", f"/api/v1/webhooks/{hook['webhook_id']}/")
    await asyncio.sleep(1.5)  # the next try is after a second

    assert received.seen == []


async def test_webhooks_are_listed_changed_and_removed_by_their_owner_only(engine_service: Service) -> None:
    ana, hook = await hooked(engine_service, "https://example.com/hook", "memory_add")
    ben = await program(engine_service, "ben")
    path = f"/api/v1/webhooks/{hook['webhook_id']}/"

    assert await ben.call("GET", HOOKS) == []
    await ben.call("PUT", path, json={"name": "his"}, status=404)
    await ben.call("DELETE", path, status=404)
    await ana.call("PUT", path, json={"name": "better", "event_types": ["memory_update"]})
    [listed] = await ana.call("GET", HOOKS)
    assert (listed["name"], listed["event_types"]) == ("better", ["memory_update"])
    assert "secret" not in listed
    await ana.call("DELETE", path)
    assert await ana.call("GET", HOOKS) == []


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com/",
        "example.com",
        "http://",
        "https://me:secret@example.com/",
        "http://localhost/",
        "http://127.0.0.1/",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://169.254.169.254/latest",
        "http://10.0.0.8/",
        "http://0.0.0.0/",
    ],
)
async def test_an_address_that_is_not_public_is_refused(runtime: Service, url: str) -> None:
    ana = await program(runtime)

    await ana.call("POST", HOOKS, json={"url": url, "event_types": ["memory_add"]}, status=400)


@pytest.mark.parametrize("events", [[], ["memory_explode"]])
async def test_a_webhook_asks_for_events_there_are(runtime: Service, events: list[str]) -> None:
    ana = await program(runtime)

    await ana.call("POST", HOOKS, json={"url": "https://example.com/", "event_types": events}, status=400)


def test_a_name_is_judged_by_what_it_resolves_to() -> None:
    assert may_reach("93.184.216.34")
    assert may_reach("example.com")
    assert not any(may_reach(one) for one in ("192.168.1.1", "fe80::1%eth0", "224.0.0.1", "100.64.0.1", "localhost."))
