"""Many memories changed or forgotten by one request: each on its own, and what was left is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runtime_svc.mem0_dialect.revising import Change, revise
from shared.errors import BadValue, NotAllowed, NotFound
from shared.records import By
from shared.remembered import unknown
from shared.scope import Reach
from shared.stores.ports import Embedder, MemoryStore

MOST = 1000


@dataclass(frozen=True, slots=True)
class Done:
    """How many, and why the others were left, by id."""

    count: int
    left: dict[str, str]


async def revise_each(
    store: MemoryStore, embedder: Embedder, reach: Reach, changes: Sequence[tuple[str, Change]], *, by: By
) -> Done:
    """Each change in turn; the unknown, the immutable and what does not fit are left."""
    left: dict[str, str] = {}
    for memory_id, change in changes:
        try:
            await revise(store, embedder, reach, memory_id, change, by=by)
        except (NotFound, NotAllowed, BadValue) as error:
            left[memory_id] = error.sentence
    return Done(len(changes) - len(left), left)


async def forget_each(store: MemoryStore, reach: Reach, memory_ids: Sequence[str], *, by: By) -> Done:
    """Each in turn; the unknown are left."""
    ids = list(dict.fromkeys(memory_ids))
    left = {one: unknown(reach).sentence for one in ids if not await store.forget(reach, one, by)}
    return Done(len(ids) - len(left), left)
