"""Webhooks that fail: tried so often and no more, then the next message; and never at a private address unless allowed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientTimeout

from runtime_svc.webhooks.addresses import PublicOnly
from runtime_svc.webhooks.delivery import Pace, Senders
from runtime_svc.webhooks.registered import new_body
from shared.client_records import WEBHOOK
from shared.scope import Everything, Scope
from shared.stores.local.store import LocalStore
from shared.stores.outbox import MOST_ATTEMPTS, Delivery
from tests.conformance.build import ANA, DIMENSIONS, keep, memory
from tests.receivers import Receiver, receiving

AT_ONCE = Pace(pauses=(0.0,), poll=0.01)
ENDLESS = replace(AT_ONCE, lease=3600.0, longest=3600.0, away=0.01)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[LocalStore]:
    found = await LocalStore.open(tmp_path / "store", dimensions=DIMENSIONS)
    yield found
    await found.close()


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as found:
        yield found


@asynccontextmanager
async def sending(store: LocalStore, pace: Pace = AT_ONCE, *, private: bool = True) -> AsyncIterator[Senders]:
    senders = Senders(store.outbox, store.client_records, store, private=private, pace=pace)
    senders.start()
    try:
        yield senders
    finally:
        await senders.close()


async def hook(store: LocalStore, name: str, url: str, person: str = ANA.person) -> None:
    body = new_body(name, url, ["memory_add"], None, private=True)
    await store.client_records.put(Everything(person), WEBHOOK, name, body)


async def nothing_waits(store: LocalStore) -> None:
    async with asyncio.timeout(60):
        while await store.outbox.waiting():
            await asyncio.sleep(0.01)


async def test_after_so_many_attempts_a_message_is_given_up_and_the_next_is_told(
    store: LocalStore, receiver: Receiver
) -> None:
    receiver.failures = MOST_ATTEMPTS
    await hook(store, "all", receiver.url)
    await keep(store, ANA, memory("one"))
    await keep(store, ANA, memory("two"))
    async with sending(store) as senders:
        told = await receiver.told(1)
        await nothing_waits(store)

    assert [one["data"]["memory"] for one in told] == ["two"]
    assert len({headers["X-Webhook-Delivery"] for headers in receiver.failed}) == 1
    assert (senders.numbers.given_up, senders.numbers.told) == (1, 1)


async def test_nothing_goes_to_a_private_address_whatever_was_registered(store: LocalStore, receiver: Receiver) -> None:
    await hook(store, "number", receiver.url)
    await hook(store, "name", receiver.url.replace("127.0.0.1", "localhost"))
    await keep(store, ANA, memory("one"))
    async with sending(store, private=False) as senders:
        await nothing_waits(store)

    assert (senders.numbers.given_up, senders.numbers.told) == (2, 0)
    assert receiver.seen == []


async def test_a_record_that_cannot_be_read_keeps_no_other_waiting(store: LocalStore, receiver: Receiver) -> None:
    await hook(store, "all", receiver.url)
    await hook(store, "broken", receiver.url)
    await keep(store, ANA, memory("one"))
    await store.client_records.put(Everything(ANA.person), WEBHOOK, "broken", {"url": 7})
    async with sending(store) as senders:
        await receiver.told(1)
        await nothing_waits(store)

    assert (senders.numbers.given_up, senders.numbers.told) == (1, 1)


async def test_what_is_being_sent_when_a_runtime_ends_is_sent_by_the_next(
    store: LocalStore, receiver: Receiver
) -> None:
    await hook(store, "all", receiver.url.replace("/hook", "/hang"))
    await keep(store, ANA, memory("one"))
    async with sending(store):
        await receiver.until(receiver.hanging)
    assert await store.outbox.waiting() == 1
    receiver.let_go.set()
    async with sending(store):
        await receiver.told(1)
        await nothing_waits(store)

    assert receiver.seen[0][0]["X-Webhook-Delivery"] == receiver.hanging[0]["X-Webhook-Delivery"]


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address that hangs is not given up before the test ends."""
    monkeypatch.setattr("runtime_svc.webhooks.delivery._TIMEOUT", ClientTimeout(total=None))


async def others_hang(store: LocalStore, receiver: Receiver, count: int = 20) -> None:
    """So many people with two webhooks each, at addresses of their own that take what comes and say nothing."""
    for n in range(count):
        for name in ("one", "two"):
            await hook(store, name, f"{receiver.url.replace('/hook', '/hang')}?{name}{n}", f"other{n}")
        await keep(store, Scope(f"other{n}", "app:notes"), memory("hangs"))


@pytest.mark.fault("The webhook addresses of twenty people hang", "everybody else is told meanwhile; after that they take a share of the senders")  # fmt: skip
@pytest.mark.usefixtures("endless")
async def test_while_the_addresses_of_twenty_people_hang_the_others_are_told(
    store: LocalStore, receiver: Receiver
) -> None:
    await others_hang(store, receiver)
    await hook(store, "all", receiver.url)
    async with sending(store, ENDLESS):
        await receiver.until(receiver.hanging, 40)
        await keep(store, ANA, memory("one"))
        told = await receiver.told(1)

    assert [one["data"]["memory"] for one in told] == ["one"]


@pytest.mark.usefixtures("endless")
async def test_what_failed_before_takes_its_share_of_the_senders_and_no_more(
    store: LocalStore, receiver: Receiver
) -> None:
    await others_hang(store, receiver)
    for failed in await store.outbox.claim("before", timedelta(seconds=30), most=100):
        await store.outbox.again(failed, "before", after=timedelta(0))
    await hook(store, "all", receiver.url)
    async with sending(store, replace(ENDLESS, senders=8, failing=3)):
        await receiver.until(receiver.hanging, 3)
        for words in ("one", "two", "three"):
            await keep(store, ANA, memory(words))
        told = await receiver.told(3)

    assert [one["data"]["memory"] for one in told] == ["one", "two", "three"]
    assert len(receiver.hanging) == 3


@pytest.mark.usefixtures("endless")
async def test_an_address_that_hung_is_tried_by_one_sender_at_a_time(
    store: LocalStore, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, again, waited = receiver.url.replace("/hook", "/hang"), store.outbox.again, asyncio.Event()

    async def told_again(delivery: Delivery, worker: str, **how: Any) -> None:
        assert how["counted"] is False, "waiting is no failure"
        waited.set()
        await again(delivery, worker, **how)

    monkeypatch.setattr(store.outbox, "again", told_again)
    for person in ("ben", "cleo"):
        await hook(store, "all", url, person)
        await keep(store, Scope(person, "app:notes"), memory("hangs"))
    senders = Senders(store.outbox, store.client_records, store, private=True, pace=ENDLESS)
    with contextlib.suppress(TimeoutError), senders.hanging.turn(url):
        raise TimeoutError
    senders.start()
    await receiver.until(receiver.hanging)
    async with asyncio.timeout(60):
        await waited.wait()

    assert len(receiver.hanging) == 1
    await senders.close()


async def test_a_name_of_a_private_address_is_not_resolved() -> None:
    names = PublicOnly(1)
    with pytest.raises(OSError, match="no public address"):
        await names.resolve("localhost", 80)
    await names.close()
