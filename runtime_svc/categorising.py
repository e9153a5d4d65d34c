"""Sorts what is learned into categories by its meaning, without an LLM."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from shared.categories import DEFAULT, Catalogue, catalogue, categories_of
from shared.records import Add, Change
from shared.stores.ports import Embedder


class Categoriser:
    """Knows the default catalogue, embedded once, and any that a learn brings."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._default: Catalogue | None = None
        self._making = asyncio.Lock()

    async def sort(self, changes: Sequence[Change], described: Mapping[str, str]) -> list[Change]:
        """The changes, new memories with their categories unless they have some. Raises Unavailable."""
        if not any(isinstance(change, Add) for change in changes):
            return list(changes)
        known = await catalogue(self._embedder, described) if described else await self._known()
        return [self._sorted(change, known) for change in changes]

    async def _known(self) -> Catalogue:
        async with self._making:
            if self._default is None:
                self._default = await catalogue(self._embedder, DEFAULT)
            return self._default

    def _sorted(self, change: Change, known: Catalogue) -> Change:
        if not isinstance(change, Add) or change.payload.get("categories"):
            return change
        return replace(change, payload={**change.payload, "categories": categories_of(change.vector, known)})
