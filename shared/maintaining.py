"""Upkeep: meaning and lexemes follow the words, and what has expired goes. In the background, some at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import NamedTuple

import structlog

from shared.errors import Unavailable
from shared.logs import fault
from shared.records import By, Door, Vector
from shared.stores.maintenance import Maintenance, Stale
from shared.stores.ports import Embedder, EntityExtractor
from shared.times import now
from shared.words import lemmatized

log = structlog.get_logger()

AT_ONCE = 32
"""Memories of one step: a step is short, so that what people ask for is not kept waiting."""

_SERVICE = By("service", Door.SERVICE)
_IDLE = 2.0
_SWEEP_EVERY = 600.0
_SET_ASIDE = 3600.0
_HARMLESS = ("yes", "no")
"""What an embedder that works embeds; two, for the vector of one may be kept from before."""
_LONGEST_PAUSE = 60.0
"""Seconds after a fault; doubled up to that for each further one."""


class Step(NamedTuple):
    """What one step did."""

    found: int
    """How many were looked at."""
    after: str
    """Where the next step starts; empty at the end."""
    set_aside: int
    """How many the embedder refuses."""


async def refresh_some(
    maintenance: Maintenance, embedder: Embedder, entities: EntityExtractor | None = None, *, after: str = ""
) -> Step:
    """One step. What the embedder refuses is set aside, found by its words, and holds nobody up.

    Raises Unavailable when the embedder embeds nothing.
    """
    found = await maintenance.stale(after=after, limit=AT_ONCE)
    meaning = [stale for stale in found if stale.meaning and stale.memory.words]
    said = [stale.memory.words for stale in meaning]
    vectors = await _vectors(embedder, said) if said else []
    fresh = {stale.memory.id: vector for stale, vector in zip(meaning, vectors, strict=True)}
    found_named = await entities.named(said) if said and entities is not None else []
    named = dict(zip((stale.memory.id for stale in meaning), found_named, strict=False))
    for stale in found:
        words, memory_id = lemmatized(stale.memory.words), stale.memory.id
        await maintenance.refresh(stale, lexemes=words, vector=fresh.get(memory_id), named=named.get(memory_id))
    refused = [stale for stale, vector in zip(meaning, vectors, strict=True) if vector is None]
    for stale in refused:
        await maintenance.set_aside(stale, seconds=_SET_ASIDE)
        log.warning("upkeep.set_aside", memory=stale.memory.id)
    return Step(len(found), _last(found), len(refused))


async def _vectors(embedder: Embedder, texts: Sequence[str]) -> list[Vector | None]:
    """A vector for each text, None for one that is refused. Raises Unavailable when no text is to blame for it."""
    try:
        return list(await embedder.embed(texts))
    except Unavailable:
        await embedder.embed(_HARMLESS)
    if len(texts) == 1:
        return [None]
    middle = len(texts) // 2
    return [*await _vectors(embedder, texts[:middle]), *await _vectors(embedder, texts[middle:])]


def _last(found: Sequence[Stale]) -> str:
    return found[-1].memory.id if len(found) == AT_ONCE else ""


async def sweep_expired(maintenance: Maintenance, *, grace_days: int) -> int:
    """Forget what expired more than the grace ago, with all that is derived; how many."""
    before = (now() - timedelta(days=grace_days)).date().isoformat()
    swept = 0
    while found := await maintenance.sweep(before, _SERVICE, limit=AT_ONCE):
        swept += found
    return swept


class Upkeep:
    """Background tasks of one process. A fault is noted and tried again; nothing else stops."""

    def __init__(
        self,
        maintenance: Maintenance,
        embedder: Embedder | None,
        *,
        grace_days: int,
        entities: EntityExtractor | None = None,
    ) -> None:
        """Without an embedder (the platform, or `RUNTIME_REEMBED=off`) only what has expired is swept."""
        self._maintenance = maintenance
        self._embedder = embedder
        self._entities = entities
        self._grace_days = grace_days
        self._tasks: list[asyncio.Task[None]] = []
        self._after = ""
        self.set_aside = 0
        """How often a memory was set aside since the start, for the embedder refuses it."""

    def start(self) -> None:
        """Begin."""
        self._tasks = [asyncio.create_task(self._repeat(self._sweep))]
        if self._embedder is not None:
            self._tasks.append(asyncio.create_task(self._repeat(self._refresh)))

    async def close(self) -> None:
        """End, between two steps or in the middle of one: each write is whole."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _repeat(self, step: Callable[[], Awaitable[float]]) -> None:
        failures = 0
        while True:
            try:
                pause, failures = await step(), 0
            except Exception as error:  # noqa: BLE001 (one row that cannot be read must not end the upkeep of all)
                failures += 1
                pause = min(_IDLE * 2**failures, _LONGEST_PAUSE)
                log.warning("upkeep.failed", **fault(error))
            await asyncio.sleep(pause)

    async def _refresh(self) -> float:
        if self._embedder is None:
            return _SWEEP_EVERY
        step = await refresh_some(self._maintenance, self._embedder, self._entities, after=self._after)
        self._after = step.after
        self.set_aside += step.set_aside
        return 0.0 if step.found and step.after else _IDLE

    async def _sweep(self) -> float:
        swept = await sweep_expired(self._maintenance, grace_days=self._grace_days)
        if swept:
            log.info("upkeep.swept", memories=swept)
        return _SWEEP_EVERY
