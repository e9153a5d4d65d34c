"""Webhooks that fail: tried so often and no more, then the next message; and never at a private address unless allowed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from runtime_svc.webhooks.addresses import PublicOnly
from runtime_svc.webhooks.delivery import Pace, Senders
from runtime_svc.webhooks.registered import new_body
from shared.client_records import WEBHOOK
from shared.scope import Everything
from shared.stores.local.store import LocalStore
from shared.stores.outbox import MOST_ATTEMPTS
from tests.conformance.build import ANA, DIMENSIONS, keep, memory
from tests.receivers import Receiver, receiving

AT_ONCE = Pace(pauses=(0.0,), poll=0.01)


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
    yield senders
    await senders.close()


async def hook(store: LocalStore, name: str, url: str) -> None:
    body = new_body(name, url, ["memory_add"], None, private=True)
    await store.client_records.put(Everything(ANA.person), WEBHOOK, name, body)


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


async def test_a_name_of_a_private_address_is_not_resolved() -> None:
    names = PublicOnly(1)
    with pytest.raises(OSError, match="no public address"):
        await names.resolve("localhost", 80)
    await names.close()
