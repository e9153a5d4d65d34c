"""Nobody ever sees, counts, changes or forgets another's, and only what is done in another's name is recorded.

People whose names are alike, with tokens and keys of every kind, through every dialect, at random; `make soak` goes on
for longer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.isolation.machine import Isolation, Stage
from tests.services import start_platform, start_runtime

LIVES, STEPS = 12, 40


@pytest.fixture(params=["postgres", "local"])
def stage(
    request: pytest.FixtureRequest, settings_environment: pytest.MonkeyPatch, database: str, tmp_path: Path
) -> Iterator[Stage]:
    with asyncio.Runner() as runner:
        platform = None
        if request.param == "local":
            settings_environment.setenv("AGENT_RUNTIMES_MEM0_BACKEND", "faiss")
            settings_environment.setenv("AGENT_RUNTIMES_MEM0_DIR", str(tmp_path / "store"))
        else:
            platform = runner.run(start_platform(database))
            settings_environment.delenv("RUNTIME_SHARES")
            settings_environment.setenv("DATALAYER_RUNTIMES_URL", str(platform.client.make_url("/")))
        runtime = runner.run(start_runtime(None if platform is None else database))
        yield Stage(runner, runtime, platform)
        runner.run(runtime.client.close())
        if platform is not None:
            runner.run(platform.client.close())


def test_nobody_ever_reaches_anothers_whatever_is_done_by_whom_through_which_door(stage: Stage) -> None:
    class Life(Isolation):
        pass

    Life.stage = stage
    run_state_machine_as_test(
        Life,
        settings=settings(
            max_examples=LIVES,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )

    assert stage.steps > LIVES * STEPS / 4
    assert stage.calls > stage.steps
