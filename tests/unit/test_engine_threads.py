"""The threads apart from the service's own: bounded, cancelled from outside, never in the way of the end."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import threading
from types import SimpleNamespace

import httpx
import openai
import pytest

from runtime_svc.engine.checked_llm import bounded
from runtime_svc.engine.threads import DaemonExecutor, SideLoop
from tests.waiting import FOR_EVER


async def test_work_runs_on_other_threads_in_the_callers_context() -> None:
    side = SideLoop(threads=2, name="side")
    mine: contextvars.ContextVar[str] = contextvars.ContextVar("mine")
    mine.set("ana")

    async def work() -> tuple[str, str, str]:
        return mine.get(), threading.current_thread().name, await asyncio.to_thread(mine.get)

    assert await side.run(work()) == ("ana", "side-loop", "ana")
    await side.close()


async def test_an_error_there_is_raised_here() -> None:
    side = SideLoop(threads=1, name="side")

    async def work() -> None:
        await asyncio.to_thread(int, "x")

    with pytest.raises(ValueError, match="invalid literal"):
        await side.run(work())
    await side.close()


async def test_cancelling_here_cancels_there() -> None:
    side = SideLoop(threads=1, name="side")
    begun, cancelled = threading.Event(), threading.Event()

    async def work() -> None:
        try:
            begun.set()
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    working = asyncio.create_task(side.run(work()))
    assert await asyncio.to_thread(begun.wait, FOR_EVER)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working

    assert await asyncio.to_thread(cancelled.wait, FOR_EVER)
    await side.close()


async def test_no_more_calls_run_at_once_than_there_are_threads() -> None:
    executor = DaemonExecutor(3, "few")
    lock, three = threading.Lock(), threading.Barrier(3)
    running, most = 0, 0

    def work() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        three.wait(FOR_EVER)  # three are there at once
        with lock:
            running -= 1

    await asyncio.gather(*(asyncio.wrap_future(executor.submit(work)) for _ in range(30)))

    assert most == 3
    executor.shutdown()


async def test_closing_cancels_what_runs() -> None:
    side = SideLoop(threads=1, name="side")
    begun = threading.Event()

    async def work() -> None:
        begun.set()
        await asyncio.sleep(600)

    waiting = asyncio.create_task(side.run(work()))
    assert await asyncio.to_thread(begun.wait, FOR_EVER)

    await side.close()

    with pytest.raises(asyncio.CancelledError):
        await waiting


def test_a_call_that_hangs_does_not_hold_up_the_end_of_the_process() -> None:
    code = """if True:
        import asyncio, threading, time
        from runtime_svc.engine.threads import SideLoop
        async def main():
            side = SideLoop(threads=1, name="side")
            hanging = threading.Event()
            async def hang():
                await asyncio.to_thread(lambda: (hanging.set(), time.sleep(600)))
            calling = asyncio.create_task(side.run(hang()))
            await asyncio.to_thread(hanging.wait)
            await side.close()
            await asyncio.gather(calling, return_exceptions=True)
        asyncio.run(main())
    """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=FOR_EVER)


def test_a_providers_client_gets_our_time_out_and_no_retries_of_its_own() -> None:
    stainless = bounded(openai.OpenAI(api_key="x"), 7)
    plain = SimpleNamespace(_client=httpx.Client(timeout=None))  # noqa: S113 (as ollama's is)

    bounded(plain, 7)

    assert (stainless.timeout, stainless.max_retries) == (7, 0)
    assert plain._client.timeout == httpx.Timeout(7)
    assert bounded(None, 7) is None
