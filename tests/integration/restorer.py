"""Run by test_restore_kills in a process of its own: restores one snapshot after the other until it is killed.

`python -m tests.integration.restorer local|postgres WHERE STATE STATE`
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from pathlib import Path

from shared.records import By, Door
from shared.scope import Everything
from shared.snapshots import saving
from tests.conformance.conftest import local, postgres_left

PERSON = Everything("ana")


async def main(kind: str, where: str, *states: str) -> None:
    async with local(Path(where)) if kind == "local" else postgres_left(where) as ports:
        os.write(1, b"ready\n")
        for state in itertools.cycle(states):
            await saving.restore(ports.states, PERSON, PERSON, state, By("ana", Door.STATE), respect_forgotten=False)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
