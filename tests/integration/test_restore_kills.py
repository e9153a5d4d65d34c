"""A restore that is killed in the middle leaves what was before, or what was to be: never half."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from uuid import uuid4

import pytest

from shared.scope import Everything
from shared.snapshots import saving
from shared.snapshots.entries import Entry
from shared.snapshots.sealing import Digest
from tests.conformance.build import ANA, ANA_TRAVEL, BY, keep_many
from tests.conformance.conftest import Ports, local, postgres_left, prepared_database  # noqa: F401 (a fixture)

PERSON = Everything("ana")
ROUNDS = int(os.environ.get("KILLS", "5"))


async def digest(ports: Ports) -> str:
    found = Digest()

    def take(entries: list[Entry]) -> None:
        for entry in entries:
            found.add(entry)

    await ports.states.read(PERSON, take)
    return found.value


async def two_snapshots(ports: Ports) -> list[str]:
    """Of much and of little, in different applications."""
    await keep_many(ports.store, ANA, 300, words=f"one {uuid4()}")
    await ports.data.put(ANA, "Facts", {"a": 1}, BY)
    one = await saving.save(ports.states, PERSON)
    await ports.states.erase(PERSON, BY, allowances=True, snapshots=False)
    await keep_many(ports.store, ANA_TRAVEL, 200, words=f"two {uuid4()}")
    two = await saving.save(ports.states, PERSON)
    return [one.id, two.id]


async def killed_in_the_middle(kind: str, where: str, states: list[str], after: float) -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.integration.restorer", kind, where, *states, stdout=asyncio.subprocess.PIPE
    )
    assert child.stdout is not None
    assert await child.stdout.readline() == b"ready\n"
    await asyncio.sleep(after)
    child.send_signal(signal.SIGKILL)
    await child.communicate()
    assert child.returncode == -signal.SIGKILL


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ["local", "postgres"])
async def test_a_killed_restore_is_the_old_state_or_the_new_one(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, prepared: str
) -> None:
    where = str(tmp_path / "store") if kind == "local" else prepared

    def opened() -> AbstractAsyncContextManager[Ports]:
        return local(Path(where)) if kind == "local" else postgres_left(where)

    async with opened() as ports:
        states = await two_snapshots(ports)
        known = {state.digest for state in await ports.states.states(PERSON)}
    seed = random.Random(7)
    for number in range(ROUNDS):
        await killed_in_the_middle(kind, where, states, seed.uniform(0.02, 0.6))
        async with opened() as ports:
            assert await digest(ports) in known, number
            await ports.store.epoch(ANA)


@pytest.fixture
def prepared(prepared_database: str) -> str:  # noqa: F811 (the fixture that is imported)
    """A prepared database, kept outside of the event loop of the test."""
    return prepared_database
