"""Webhooks: told of a person's changes, signed, again after a failure, never at a private address unless allowed."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runtime_svc.keys import OUTBOX
from runtime_svc.webhooks.registered import may_reach
from shared.stores.outbox import AT_ONCE
from tests.acceptance.mem0_key import Program, program
from tests.acceptance.test_api_keys import impersonating
from tests.contract.test_metrics import numbers
from tests.receivers import Receiver, hook, hooked, receiving
from tests.services import Service, runtime_on, start_runtime

HOOKS = "/api/v1/webhooks/projects/default/"


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as found:
        yield found


@pytest.fixture(params=["postgres", "local"])
async def private_runtime(
    request: pytest.FixtureRequest, settings_environment: pytest.MonkeyPatch, database: str, tmp_path: Path
) -> AsyncIterator[Service]:
    """A runtime on each store in turn, whose webhooks may be on this machine."""
    settings_environment.setenv("RUNTIME_WEBHOOKS_PRIVATE", "1")
    dsn = database if request.param == "postgres" else None
    async with runtime_on(settings_environment, dsn, tmp_path / "local") as service:
        yield service


async def nothing_waits(service: Service) -> None:
    async with asyncio.timeout(60):
        while await service.client.app[OUTBOX].waiting():
            await asyncio.sleep(0.05)


async def test_a_webhook_is_told_of_what_it_asked_for_signed(private_runtime: Service, receiver: Receiver) -> None:
    ana, hook = await hooked(private_runtime, receiver.url, "memory_add", "memory_delete")
    item = await ana.add("I love tea")
    await ana.call("PUT", f"/v1/memories/{item['id']}/", json={"text": "I love jam"})
    await receiver.told(1)
    await ana.call("DELETE", f"/v1/memories/{item['id']}/")

    told = await receiver.told(2)
    assert [(one["event"], one["id"]) for one in told] == [("ADD", item["id"]), ("DELETE", item["id"])]
    assert told[1]["data"] == {"memory": None}
    for headers, raw in receiver.seen:
        signed = hmac.new(hook["secret"].encode(), headers["X-Webhook-Timestamp"].encode() + b"." + raw, hashlib.sha256)
        assert headers["X-Webhook-Signature"] == f"sha256={signed.hexdigest()}"


async def test_a_webhook_is_told_of_categories(private_runtime: Service, receiver: Receiver) -> None:
    ana, _ = await hooked(private_runtime, receiver.url, "memory_categorize")
    item = await ana.add("I love hiking", custom_categories=[{"outdoors": "hiking, mountains"}])

    assert await receiver.told(1) == [{"event": "CATEGORIZE", "memory_id": item["id"], "categories": ["outdoors"]}]


async def test_a_failure_is_tried_again(private_runtime: Service, receiver: Receiver) -> None:
    receiver.failures = 1
    ana, _ = await hooked(private_runtime, receiver.url, "memory_add")
    await ana.add("I love tea")

    assert [one["data"]["memory"] for one in await receiver.told(1)] == ["I love tea"]


async def test_a_webhook_of_a_bound_key_hears_of_its_application_only_and_of_its_owner_only(
    private_runtime: Service, receiver: Receiver
) -> None:
    shop, _ = await hooked(private_runtime, receiver.url, "memory_add", application="shop")
    await (await program(private_runtime)).add("at home", app_id="home")
    ben = await program(private_runtime, "ben")
    await ben.add("his", user_id="ben", app_id="shop")
    await shop.add("in the shop")

    assert [one["data"]["memory"] for one in await receiver.told(1)] == ["in the shop"]


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
    private_runtime: Service, receiver: Receiver
) -> None:
    receiver.failures = 1
    ana, hook = await hooked(private_runtime, receiver.url, "memory_add")
    await ana.add("I love tea")
    await receiver.until(receiver.failed)
    await ana.call("DELETE", f"/api/v1/webhooks/{hook['webhook_id']}/")
    await nothing_waits(private_runtime)

    assert receiver.seen == []


async def test_what_was_forgotten_meanwhile_is_not_said(private_runtime: Service, receiver: Receiver) -> None:
    receiver.failures = 1
    ana, _ = await hooked(private_runtime, receiver.url, "memory_add", "memory_delete")
    item = await ana.add("I love tea")
    await receiver.until(receiver.failed)
    await ana.call("DELETE", f"/v1/memories/{item['id']}/")
    told = await receiver.told(1)
    await nothing_waits(private_runtime)

    assert [(one["event"], one["id"]) for one in told] == [("DELETE", item["id"])]
    assert len(receiver.seen) == 1


async def test_what_a_webhook_asks_for_no_more_is_not_said(private_runtime: Service, receiver: Receiver) -> None:
    receiver.failures = 1
    ana, hook = await hooked(private_runtime, receiver.url, "memory_add")
    await ana.add("I love tea")
    await receiver.until(receiver.failed)
    path = f"/api/v1/webhooks/{hook['webhook_id']}/"
    await ana.call("PUT", path, json={"event_types": ["memory_delete"]})
    await nothing_waits(private_runtime)

    assert receiver.seen == []


async def test_a_message_has_one_id_however_often_it_is_sent(private_runtime: Service, receiver: Receiver) -> None:
    receiver.failures = 1
    ana, _ = await hooked(private_runtime, receiver.url, "memory_add")
    await ana.add("I love tea")
    await ana.add("I love jam")
    told = await receiver.told(2)

    [first, second] = [
        (headers["X-Webhook-Delivery"], json.loads(raw)["delivery_id"]) for headers, raw in receiver.seen
    ]
    assert [one["data"]["memory"] for one in told] == ["I love tea", "I love jam"], "in order, whatever fails"
    assert first == (receiver.failed[0]["X-Webhook-Delivery"],) * 2
    assert second[0] == second[1] != first[0]


@pytest.mark.fault("Twenty webhooks of one person hang", "everybody else's are told meanwhile; the one's take two senders at most")  # fmt: skip
async def test_hanging_addresses_of_one_keep_nobody_elses_waiting(private_runtime: Service, receiver: Receiver) -> None:
    ana = await program(private_runtime)
    for _ in range(20):
        await hook(ana, receiver.url.replace("/hook", "/hang"), "memory_add")
    ben, _ = await hooked(private_runtime, receiver.url, "memory_add", uid="ben")
    await ana.add("I love tea")
    await receiver.until(receiver.hanging, AT_ONCE)
    for words in ("one", "two", "three"):
        await ben.add(words, user_id="ben")
    told = await receiver.told(3)

    assert [one["data"]["memory"] for one in told] == ["one", "two", "three"]
    assert len(receiver.hanging) == AT_ONCE
    receiver.let_go.set()
    await receiver.told(3 + 20)
    await nothing_waits(private_runtime)


async def test_a_correction_on_the_platform_is_told_too(
    settings_environment: pytest.MonkeyPatch, database: str, platform: Service, receiver: Receiver
) -> None:
    settings_environment.setenv("RUNTIME_WEBHOOKS_PRIVATE", "1")
    runtime = await start_runtime(database)
    try:
        ana, _ = await hooked(runtime, receiver.url, "memory_update", "memory_delete")
        item = await ana.add("I love tea")
        path = f"/api/runtimes/v1/memories/{item['id']}"
        assert (await platform.patch(path, uid="ana", json={"memory": "I love jam"}))[0] == 200
        [corrected] = await receiver.told(1)
        assert (await platform.delete(path, uid="ana"))[0] == 200
        [_, forgotten] = await receiver.told(2)
    finally:
        await runtime.client.close()

    assert (corrected["event"], corrected["data"]["memory"]) == ("UPDATE", "I love jam")
    assert (forgotten["event"], forgotten["id"]) == ("DELETE", item["id"])


async def test_what_became_of_messages_is_counted(private_runtime: Service, receiver: Receiver) -> None:
    ana, _ = await hooked(private_runtime, receiver.url, "memory_add")
    await ana.add("I love tea")
    await receiver.told(1)
    await nothing_waits(private_runtime)
    found = await numbers(private_runtime)

    assert found[("runtime_memory_webhook_told_total",)] == 1
    assert found[("runtime_memory_webhook_waiting",)] == 0
    for name in ("given_up", "too_old", "refused"):
        assert found[(f"runtime_memory_webhook_{name}_total",)] == 0


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


async def test_what_a_receiver_sets_with_one_message_rides_on_no_other(
    private_runtime: Service, receiver: Receiver
) -> None:
    by_name = receiver.url.replace("127.0.0.1", "localhost")  # cookies are kept of names only
    ana, _ = await hooked(private_runtime, by_name, "memory_add")
    await ana.add("I love tea")
    await receiver.told(1)
    ben, _ = await hooked(private_runtime, by_name, "memory_add", uid="ben")
    await ben.add("I love jam", user_id="ben")
    await receiver.told(2)

    assert [headers.get("Cookie") for headers, _ in receiver.seen] == [None, None]


@pytest.mark.parametrize("events", [[], ["memory_explode"]])
async def test_a_webhook_asks_for_events_there_are(runtime: Service, events: list[str]) -> None:
    ana = await program(runtime)

    await ana.call("POST", HOOKS, json={"url": "https://example.com/", "event_types": events}, status=400)


def test_a_name_is_judged_by_what_it_resolves_to() -> None:
    assert may_reach("93.184.216.34")
    assert may_reach("example.com")
    assert not any(may_reach(one) for one in ("192.168.1.1", "fe80::1%eth0", "224.0.0.1", "100.64.0.1", "localhost."))


@pytest.mark.parametrize(
    "inside",
    ["64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1", "2002:7f00:1::", "::7f00:1", "::ffff:0:7f00:1"],
)
def test_a_private_address_in_one_that_a_gateway_translates_is_refused(inside: str) -> None:
    assert not may_reach(inside)


def test_addresses_beside_the_public_ones_are_refused_and_translated_public_ones_are_not() -> None:
    assert not any(may_reach(one) for one in ("fec0::1", "fd00::1", "5f00::1", "::", "ff02::1", "2001:db8::1"))
    assert all(may_reach(one) for one in ("64:ff9b::808:808", "2606:4700::1111", "2002:808:808::1", "::ffff:8.8.8.8"))
