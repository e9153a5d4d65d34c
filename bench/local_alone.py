"""Acts of the local store by itself: not of it what another engine leaves in the caches and on the way to the disk."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

from bench.report import Table

Act = Callable[[], Awaitable[object]]

WARM = 3


async def alone(acts: Mapping[str, Sequence[Act]]) -> dict[str, tuple[float, float]]:
    """Each act as often as it is given, one after another: its median in milliseconds, and of processor."""
    return {name: await _medians(each) for name, each in acts.items()}


def grown(found: Mapping[int, Mapping[str, tuple[float, float]]]) -> Table:
    """One row an act: what it takes by the number of memories of others."""
    sizes = list(found)
    columns = [f"{size:,} {what}" for size in sizes for what in ("ms", "processor")]
    table = Table("Local store, ours by itself, by memories of others", ["act", *columns, "last / first", "processor"])
    for act in found[sizes[0]]:
        first, last = found[sizes[0]][act], found[sizes[-1]][act]
        took = [one for size in sizes for one in found[size][act]]
        table.add(act, *took, *(later / before for later, before in zip(last, first, strict=True)))
    return table


async def _medians(acts: Sequence[Act]) -> tuple[float, float]:
    took = [await _took(act) for act in acts][WARM:]
    return statistics.median(wall for wall, _ in took), statistics.median(processor for _, processor in took)


async def _took(act: Act) -> tuple[float, float]:
    wall, processor = time.perf_counter(), time.process_time()
    await act()
    return (time.perf_counter() - wall) * 1000, (time.process_time() - processor) * 1000
