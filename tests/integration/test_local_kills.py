"""A kill at any moment loses nothing acknowledged, half-writes nothing, and brings nothing forgotten back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROUNDS = int(os.environ.get("LOCAL_KILLS", "6"))
"""40 for the measured claim: `LOCAL_KILLS=40 pytest tests/integration/test_local_kills.py`."""


@pytest.mark.fault("kill -9 of a runtime on the local store, at any moment of a write", "nothing acknowledged is lost, nothing is half done, nothing forgotten is on the disk")  # fmt: skip
@pytest.mark.field("B62")
@pytest.mark.timeout(60 + 30 * ROUNDS)
def test_a_kill_at_any_moment_loses_nothing_acknowledged(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.local_kills", str(tmp_path / "store"), str(ROUNDS), "7"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("killed in") == ROUNDS
