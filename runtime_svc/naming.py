"""A store that keeps with each memory which entities it names: everything else is the store's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from shared.named import Named, naming
from shared.records import Add, By, Change, Delete, Memory, Outcome, Patch, Update
from shared.scope import Reach, Scope
from shared.stores.ports import Accepted, EntityExtractor, MemoryStore


def naming_store(store: MemoryStore, entities: EntityExtractor) -> MemoryStore:
    """The store, whose new and corrected memories say which entities they name."""
    return cast("MemoryStore", _Naming(store, entities))


class _Naming:
    def __init__(self, store: MemoryStore, entities: EntityExtractor) -> None:
        self._store = store
        self._entities = entities

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(
        self, scope: Scope, changes: Sequence[Change], by: By, *, accepted: Accepted | None = None
    ) -> list[Outcome]:
        said = [words for change in changes if (words := _words(change)) is not None]
        named = iter(await self._entities.named(said) if said else [])
        telling = [_telling(change, named) for change in changes]
        return await self._store.commit(scope, telling, by, accepted=accepted)

    async def correct(self, reach: Reach, memory_id: str, patch: Patch, by: By) -> Memory | None:
        if patch.words is not None:
            (named,) = await self._entities.named([patch.words])
            patch = replace(patch, payload={**patch.payload, **naming(named)})
        return await self._store.correct(reach, memory_id, patch, by)


def _words(change: Change) -> str | None:
    match change:
        case Add(payload=payload):
            return str(payload.get("data") or "")
        case Update(words=words):
            return words
        case Delete():
            return None


def _telling(change: Change, named: Iterator[list[Named]]) -> Change:
    match change:
        case Add(payload=payload):
            told = naming(next(named))
            return replace(
                change, payload={**payload, **{key: value for key, value in told.items() if value is not None}}
            )
        case Update(metadata=metadata):
            return replace(change, metadata={**metadata, **naming(next(named))})
        case Delete():
            return change
