"""Upkeep goes on whatever one step meets."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from shared import maintaining
from shared.errors import Unavailable
from shared.named import Named
from shared.records import By, Memory, Vector
from shared.scope import Scope
from shared.stores.maintenance import Stale
from tests.waiting import FOR_EVER


class Faulty:
    """Maintenance whose first sweeps meet what nobody thought of."""

    def __init__(self, faults: int) -> None:
        self.faults = faults
        self.swept = asyncio.Event()

    async def stale(self, *, after: str, limit: int) -> Sequence[Stale]:
        return ()

    async def refresh(
        self, stale: Stale, *, lexemes: str, vector: Vector | None, named: Sequence[Named] | None = None
    ) -> bool:
        return False

    async def set_aside(self, stale: Stale, *, seconds: float) -> None:
        return None

    async def sweep(self, before: str, by: By, *, limit: int) -> int:
        if self.faults:
            self.faults -= 1
            raise LookupError("a row that nobody thought of")
        self.swept.set()
        return 0


async def test_an_unknown_fault_ends_one_step_and_not_the_upkeep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintaining, "_IDLE", 0.01)
    faulty = Faulty(faults=2)
    upkeep = maintaining.Upkeep(faulty, None, grace_days=0)
    upkeep.start()
    try:
        async with asyncio.timeout(FOR_EVER):
            await faulty.swept.wait()
    finally:
        await upkeep.close()

    assert faulty.faults == 0


class Refusing:
    """Embeds what is harmless and no memory."""

    dimensions = 3

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        if "a memory" in texts:
            raise Unavailable("The embedder failed.")
        return [np.ones(3, dtype=np.float32) for _ in texts]


class OneStale(Faulty):
    """One memory waits for its meaning until it is set aside."""

    def __init__(self) -> None:
        super().__init__(faults=0)
        self.aside: list[str] = []

    async def stale(self, *, after: str, limit: int) -> Sequence[Stale]:
        return () if self.aside else (Stale(Scope("ana", "app:a"), Memory("m", {"data": "a memory"}), meaning=True),)

    async def set_aside(self, stale: Stale, *, seconds: float) -> None:
        self.aside.append(stale.memory.id)

    async def sweep(self, before: str, by: By, *, limit: int) -> int:
        return 0


async def test_what_is_set_aside_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintaining, "_IDLE", 0.01)
    stale = OneStale()
    upkeep = maintaining.Upkeep(stale, Refusing(), grace_days=0)
    upkeep.start()
    try:
        async with asyncio.timeout(30):
            while not upkeep.set_aside:
                await asyncio.sleep(0.01)
    finally:
        await upkeep.close()

    assert (stale.aside, upkeep.set_aside) == (["m"], 1)
