"""Plays lives on both services in this process, on either store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.chat_provider import chat_provider
from tests.isolation.machine import Isolation, Stage
from tests.services import start_platform, start_runtime

STEPS = 40
"""Of one life."""


@contextmanager
def stage(environment: pytest.MonkeyPatch, *, dsn: str | None, directory: Path) -> Iterator[Stage]:
    """The services, started: on PostgreSQL the platform, too; else the local store in a directory."""
    with asyncio.Runner() as runner:
        serving = chat_provider()
        provider = runner.run(serving.__aenter__())
        environment.setenv("MEMORY_CHAT_BASE_URL", provider.url)
        environment.setenv("MEMORY_RECALL_BUDGET_MS", "60000")
        platform = None
        if dsn is None:
            environment.setenv("AGENT_RUNTIMES_MEM0_BACKEND", "faiss")
            environment.setenv("AGENT_RUNTIMES_MEM0_DIR", str(directory))
        else:
            platform = runner.run(start_platform(dsn))
            environment.delenv("RUNTIME_SHARES")
            environment.setenv("DATALAYER_RUNTIMES_URL", str(platform.client.make_url("/")))
        runtime = runner.run(start_runtime(dsn))
        yield Stage(runner, runtime, platform, provider)
        for service in (runtime, platform):
            if service is not None:
                runner.run(service.client.close())
        runner.run(serving.__aexit__(None, None, None))


def play(on: Stage, lives: int, *, at_random: bool) -> None:
    """So many lives, the same ones each time unless at random."""

    class Life(Isolation):
        stage = on

    run_state_machine_as_test(
        Life,
        settings=settings(
            max_examples=lives,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            derandomize=not at_random,
            # A failure in a long run is made small; in the tests its steps are printed as they were, at once.
            phases=[Phase.generate, Phase.shrink] if at_random else [Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
