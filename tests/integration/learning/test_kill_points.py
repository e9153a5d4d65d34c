"""A learner that is killed at any of its steps loses nothing that was accepted, and nothing is learned twice."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from shared.db.collection import Collection
from shared.db.preparing import prepare
from tests.integration.learning.kill_points import DIMENSIONS, FACTS

ROOT = Path(__file__).parents[3]


@pytest.fixture(params=["local", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    if request.param == "local":
        return "local", str(tmp_path / "kept")
    return "postgres", request.getfixturevalue("database")


@pytest.mark.fault("kill -9 of a learner at each of its steps", "what was accepted is learned exactly once")
@pytest.mark.timeout(300)
async def test_killed_at_any_step_each_accepted_learn_is_done_exactly_once(where: tuple[str, str]) -> None:
    engine, place = where
    if engine == "postgres":
        await prepare(place, Collection("agent_memories"), DIMENSIONS, with_ddl=True)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.integration.learning.kill_points",
        engine,
        place,
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    found = [json.loads(line) for line in out.splitlines()]

    assert len(found) > 15
    assert [one["killed"] for one in found] == [True] * (len(found) - 1) + [False]
    assert {one["told"] is None for one in found} == {True, False}
    for one in found:
        assert not one["lost"], one
        assert one["unfinished_or_done"] in (None, True), one
        assert one["same_event"], one
        assert one["words"] == FACTS, one
        assert one["events"] == ["SUCCEEDED"], one
        assert one["notes"] == ["One was left out."], one
        assert one["results"] == [2], one
        assert one["history"] == [1, 1], one
