"""Upkeep goes on whatever one step meets."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from shared import maintaining
from shared.named import Named
from shared.records import By, Vector
from shared.stores.maintenance import Stale


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
        async with asyncio.timeout(5):
            await faulty.swept.wait()
    finally:
        await upkeep.close()
