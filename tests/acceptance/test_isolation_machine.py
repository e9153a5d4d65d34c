"""Nobody ever sees, counts, changes or forgets another's, and only what is done in another's name is recorded.

People whose names are alike, with tokens and keys of every kind, through every dialect, at random; `make soak` goes on
for longer.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.isolation.playing import STEPS, play, stage

LIVES = 12


@pytest.mark.parametrize("engine", ["postgres", "local"])
def test_nobody_ever_reaches_anothers_whatever_is_done_by_whom_through_which_door(
    engine: str, settings_environment: pytest.MonkeyPatch, database: str, tmp_path: Path
) -> None:
    with stage(settings_environment, dsn=database if engine == "postgres" else None, directory=tmp_path / "kept") as on:
        play(on, LIVES, at_random=False)

        assert on.lives >= LIVES
        assert on.steps > LIVES * STEPS / 2
        assert on.calls > on.steps
