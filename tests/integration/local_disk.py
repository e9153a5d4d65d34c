"""Run by test_local_disk in a process of its own, for it changes the process's limits and user."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import sys
from pathlib import Path

import pytest

from shared.errors import CannotStartError, Unavailable
from shared.records import Patch
from shared.stores.local.store import LocalStore
from tests.conformance.build import ANA, BY, DIMENSIONS, keep, memory


async def full(directory: Path) -> None:
    """Learns until the disk is full, reads, makes room, and learns again."""
    store = await LocalStore.open(directory, dimensions=DIMENSIONS)
    kept = await keep(store, ANA, memory("first"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, hard))
    sentence = ""
    for n in range(1000):
        try:
            kept += await keep(store, ANA, *(memory(f"thing {n} {m} " + "x" * 3000) for m in range(5)))
        except Unavailable as error:
            sentence = error.sentence
            break
    assert "nothing was written" in sentence, sentence
    for _ in range(3):
        with contextlib.suppress(Unavailable):  # whether it fits in what is left is not sure
            await store.correct(ANA, kept[0], Patch(words="y" * 2000, lexemes="z" * 9000), BY)
    assert await store.count(ANA) == len(kept)
    assert len((await store.candidates(ANA, vector=None, lexemes=["thing"])).found) == min(100, len(kept) - 1)
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    kept += await keep(store, ANA, memory("there is room again"))
    await store.close()
    again = await LocalStore.open(directory, dimensions=DIMENSIONS)
    assert {m.id for m in (await again.page(ANA, limit=5000)).memories} == set(kept)
    await again.close()


async def readonly(directory: Path) -> None:
    """Opens a directory that it may not write."""
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    with pytest.raises(CannotStartError, match=str(directory)):
        await LocalStore.open(directory, dimensions=DIMENSIONS)


async def foreign(directory: Path) -> None:
    """Opens a directory that another user made, and lets everybody write."""
    os.setgid(65534)
    os.setuid(65534)
    with pytest.raises(CannotStartError, match="another user"):
        await LocalStore.open(directory, dimensions=DIMENSIONS)


if __name__ == "__main__":
    asyncio.run({"full": full, "readonly": readonly, "foreign": foreign}[sys.argv[1]](Path(sys.argv[2])))
