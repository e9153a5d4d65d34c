"""The queue of the local store on disk: raw messages are gone when a learn ended, and a killed process's learns go on."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from shared.errors import BadValue
from shared.stores.local.queue import LocalQueue
from shared.stores.local.store import LocalStore
from shared.stores.ports import Accepted
from tests.conformance.build import ANA, BEN, BY, DIMENSIONS, memory
from tests.conformance.learns import LEASE, accept, claim
from tests.waiting import until

SECRET = "zq-secret-0123456789"


def said(directory: Path) -> bool:
    return any(SECRET.encode() in path.read_bytes() for path in directory.iterdir())


@pytest.mark.parametrize("ends", ["learned", "failed", "forgotten", "lapsed"])
async def test_raw_messages_are_in_no_byte_soon_after_a_learn_ended(tmp_path: Path, ends: str) -> None:
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    queue = LocalQueue(store.database)
    for size in (1, 300, 20):
        event = await accept(queue, request={"messages": [SECRET] * size})
        await accept(queue, BEN, request={"messages": ["other"] * size})
        claimed = await claim(queue)
        assert said(tmp_path)
        match ends:
            case "learned":
                await store.commit(ANA, [memory("x")], BY, accepted=Accepted(claimed.epoch, event.id))
            case "failed":
                await queue.fail(event, "worker", "no")
            case "forgotten":
                await store.forget_all(ANA, BY, confirmed=None)
            case _:
                for _ in range(5):
                    await queue.extend(event, "worker", timedelta(seconds=-1))
                    await queue.lapse()
                    await queue.claim("worker", LEASE)

        await until(lambda: not said(tmp_path))
        ben = await queue.claim("worker", LEASE)
        await queue.fail(ben if ben is not None else claimed, "worker", "no")
    await store.close()


async def test_learns_of_a_process_that_ended_go_on_at_once(tmp_path: Path) -> None:
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    queue = LocalQueue(store.database)
    event = await accept(queue)
    await claim(queue)
    await store.close()
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    queue = LocalQueue(store.database)

    assert await queue.lapse() == 1
    again = await claim(queue)
    assert (again.id, again.attempt) == (event.id, 2)
    await store.close()


async def test_a_request_with_broken_text_is_refused(tmp_path: Path) -> None:
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    with pytest.raises(BadValue):
        await accept(LocalQueue(store.database), request={"messages": ["\ud800"]})
    await store.close()
