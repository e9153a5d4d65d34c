"""Changing a memory as this dialect does: words, metadata, expiry and time together, in one write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shared import remembered
from shared.errors import NotAllowed
from shared.payloads import client_metadata
from shared.records import By, Memory, Patch
from shared.scope import Reach
from shared.stores.ports import Embedder, MemoryStore
from shared.wording import corrected_words
from shared.words import lemmatized


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be different; words that are None stay."""

    words: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Merged over what there is; a null member is removed."""
    ours: Mapping[str, Any] = field(default_factory=dict)
    """Checked values of our own keys; a None is removed."""


async def revise(
    store: MemoryStore, embedder: Embedder, reach: Reach, memory_id: str, change: Change, *, by: By
) -> Memory:
    """The memory, changed. Raises BadValue, NotFound, and NotAllowed for an immutable one."""
    words = None if change.words is None else corrected_words(change.words)
    kept = client_metadata(change.metadata)
    before = await remembered.one(store, reach, memory_id)
    if before.immutable:
        raise NotAllowed("This memory is immutable: it can be forgotten, not changed.")
    if kept:
        client_metadata({name: one for name, one in {**before.metadata, **kept}.items() if one is not None})
    anew = words is not None and words != before.words
    vector = (await embedder.embed([words]))[0] if words is not None and anew else None
    patch = Patch(
        words=words,
        lexemes=lemmatized(words) if words is not None and anew else None,
        vector=vector,
        payload={**kept, **change.ours},
    )
    after = await store.correct(reach, memory_id, patch, by)
    if after is None:
        raise remembered.unknown(reach)
    return after
