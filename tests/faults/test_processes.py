"""Services and PostgreSQL as processes: killed at random, or asked to stop while they are busy."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.fleet import Fleet
from tests.faults.mixed import APP, VICTIMS, rounds_of_kills
from tests.waiting import until

LONG_SEEN = """
import runpy, shared.http.serve
shared.http.serve._SEEN_WITHIN = 5  # seconds: even a load balancer on a busy machine sees it
runpy.run_module("{name}", run_name="__main__")
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """Not pytest's directory: PostgreSQL's user must reach it."""
    directory = Path(tempfile.mkdtemp(prefix="rm-faults-"))
    yield directory
    shutil.rmtree(directory)


@pytest.mark.fault("kill -9 of a service or of PostgreSQL in the middle of mixed work", "nothing acknowledged is lost, nothing is half done; PostgreSQL's fall is a 503 until it is back")  # fmt: skip
@pytest.mark.timeout(400)
async def test_a_kill_at_random_loses_nothing_that_was_acknowledged(place: Path) -> None:
    told = await rounds_of_kills(place, len(VICTIMS), seed=1)

    assert len(told) == len(VICTIMS)
    assert all("killed: 0 acknowledged" not in line for line in told), told


@pytest.mark.fault("SIGTERM under load", "readiness fails first; every request that was taken is answered and kept")
@pytest.mark.timeout(240)
async def test_a_service_that_is_asked_to_stop_answers_all_that_it_took(place: Path) -> None:
    answers: list[int] = []
    taken = 0
    async with Fleet(place, place / "logs", program=("-c", LONG_SEEN)) as fleet:
        drained = asyncio.Event()

        async def balance() -> None:
            """What a load balancer does: it sends no more once readiness fails."""
            while (await fleet.ask("runtime_svc", "GET", "/readyz"))[0] == 200:
                await asyncio.sleep(0.01)
            drained.set()

        async def learn(number: int) -> None:
            nonlocal taken
            while not drained.is_set():
                taken += 1
                said = {"memory": f"Fact {taken} of {number}", "wait": True}
                answers.append((await fleet.ask("runtime_svc", "POST", APP, uid=f"p{number}", json=said))[0])

        async with asyncio.TaskGroup() as group:
            group.create_task(balance())
            for number in range(8):
                group.create_task(learn(number))
            await until(lambda: len(answers) > 20)
            fleet.processes["runtime_svc"].terminate()
        code = await fleet.processes["runtime_svc"].wait()
        kept = 0
        for number in range(8):
            _, said = await fleet.ask("runtimes_svc", "GET", "/api/runtimes/v1/memories", uid=f"p{number}")
            kept += said["total"]

    assert code == 0
    assert set(answers) == {200}
    assert kept == len(answers) == taken
