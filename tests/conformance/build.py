"""Memories, people and vectors for the cases."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import numpy as np

from shared.payloads import Details, new_payload
from shared.records import Add, By, Door, Memory, Vector
from shared.scope import Scope
from shared.stores.ports import MemoryStore

DIMENSIONS = 8
ANA = Scope("ana", "app:notes")
ANA_TRAVEL = Scope("ana", "app:travel")
BEN = Scope("ben", "app:notes")
BY = By("ana", Door.APPS)
START = datetime(2026, 1, 1, tzinfo=UTC)
YESTERDAY = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()


def direction(*weights: float) -> Vector:
    """A vector of unit length whose first numbers are in these proportions."""
    vector = np.zeros(DIMENSIONS, dtype=np.float32)
    vector[: len(weights)] = weights
    return vector / np.linalg.norm(vector)


def any_direction(seed: random.Random) -> Vector:
    return direction(*(seed.gauss(0, 1) for _ in range(DIMENSIONS)))


def memory(
    words: str,
    *,
    vector: Vector | None = None,
    minute: int | None = None,
    memory_id: str | None = None,
    payload: dict[str, Any] | None = None,
    **details: Any,
) -> Add:
    """A memory to add; `minute` dates it, `payload` sets keys as a stock client would."""
    learned = None if minute is None else START + timedelta(minutes=minute)
    built = new_payload(words, Details(learned_at=learned, **details), now=datetime.now(UTC))
    return Add(memory_id or str(uuid4()), built | (payload or {}), direction(1) if vector is None else vector)


async def keep(store: MemoryStore, scope: Scope, *adds: Add) -> list[str]:
    """Add memories; their ids."""
    return [outcome.id for outcome in await store.commit(scope, adds, BY)]


async def keep_many(store: MemoryStore, scope: Scope, count: int, *, words: str = "memory") -> list[str]:
    """`count` memories, a minute apart, oldest first; their ids."""
    return await keep(store, scope, *(memory(f"{words} {n}", minute=n) for n in range(count)))


def words_of(memories: Sequence[Memory]) -> list[str]:
    return [one.words for one in memories]
