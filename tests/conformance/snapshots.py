"""A person whose snapshots are taken, and what there is of them."""

from __future__ import annotations

from collections.abc import Sequence

from shared.records import Memory
from shared.scope import Everything
from shared.snapshots.entries import Entry
from shared.stores.ports import MemoryStore
from shared.stores.states import StateStore

PERSON = Everything("ana")
OTHER = Everything("ben")


async def whole(states: StateStore, person: Everything = PERSON) -> list[Entry]:
    found: list[Entry] = []
    await states.read(person, found.extend)
    return found


async def listed(store: MemoryStore, person: Everything = PERSON) -> Sequence[Memory]:
    return (await store.page(person, limit=500, show_expired=True)).memories
