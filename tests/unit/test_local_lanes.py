"""The threads of the local store: who works next, and what becomes of a job whose caller goes away."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from shared.errors import Unavailable
from shared.stores.local.lanes import Lane


@pytest.fixture
async def lane() -> AsyncIterator[Lane]:
    lane = Lane("tested", 2)
    yield lane
    await lane.close()


async def test_the_thread_that_was_free_last_works_next(lane: Lane) -> None:
    used = {await lane.run(threading.get_ident) for _ in range(20)}

    assert len(used) == 1


async def test_as_many_jobs_run_at_once_as_there_are_threads(lane: Lane) -> None:
    both = threading.Barrier(2)

    places = await asyncio.gather(lane.run(both.wait), lane.run(both.wait))

    assert sorted(places) == [0, 1]


async def test_a_fault_of_a_job_is_the_callers_and_the_thread_goes_on(lane: Lane) -> None:
    for _ in range(5):
        with pytest.raises(ZeroDivisionError):
            await lane.run(lambda: 1 // 0)

    assert await lane.run(lambda: "well") == "well"


async def test_a_caller_that_goes_away_does_not_stop_its_job_nor_free_its_thread(lane: Lane) -> None:
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def job() -> None:
        begun.set()
        go_on.wait()
        ended.set()

    leaving = asyncio.create_task(lane.run(job))
    await asyncio.to_thread(begun.wait)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    others = {await lane.run(threading.get_ident) for _ in range(3)}
    go_on.set()
    await asyncio.to_thread(ended.wait)
    both = threading.Barrier(2)
    await asyncio.gather(lane.run(both.wait), lane.run(both.wait))

    assert len(others) == 1


async def test_a_closed_lane_refuses_and_what_runs_is_finished_first(lane: Lane) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def job() -> str:
        begun.set()
        go_on.wait()
        return "done"

    running = asyncio.create_task(lane.run(job))
    await asyncio.to_thread(begun.wait)
    closing = asyncio.create_task(lane.close())
    go_on.set()
    await closing

    assert await running == "done"
    with pytest.raises(Unavailable):
        await lane.run(lambda: None)
