"""What both services do with what is remembered: show one, correct, forget. Plain use cases over the ports."""

from __future__ import annotations

from shared.errors import NotAllowed, NotFound
from shared.forgotten import Forgotten
from shared.records import By, Memory, Patch, Revision
from shared.scope import Reach, Scope
from shared.stores.ports import Embedder, MemoryStore
from shared.wording import corrected_words
from shared.words import lemmatized


def unknown(reach: Reach) -> NotFound:
    """For an unknown id, another application's and somebody else's alike; the id is not repeated."""
    if isinstance(reach, Scope):
        return NotFound(f"{reach.application.removeprefix('app:')} remembers nothing by that id.")
    return NotFound("Nothing is remembered by that id.")


async def one(store: MemoryStore, reach: Reach, memory_id: str) -> Memory:
    """A memory by id, expired or not. Raises NotFound."""
    found = await store.get(reach, memory_id)
    if found is None:
        raise unknown(reach)
    return found


async def correct(
    store: MemoryStore, reach: Reach, memory_id: str, words: object, by: By, *, embedder: Embedder | None = None
) -> Memory:
    """New words for a memory, in place; when it was learned stays. The same words again change nothing.

    Without an embedder the vector stays as it was. Raises BadValue, NotFound, NotAllowed for an immutable one.
    """
    said = corrected_words(words)
    before = await one(store, reach, memory_id)
    if before.immutable:
        raise NotAllowed("This memory is immutable: it can be forgotten, not changed.")
    if before.words == said:
        return before
    vector = None if embedder is None else (await embedder.embed([said]))[0]
    patch = Patch(words=said, lexemes=lemmatized(said), vector=vector)
    after = await store.correct(reach, memory_id, patch, by)
    if after is None:
        raise unknown(reach)
    return after


async def forget(store: MemoryStore, reach: Reach, memory_id: str, by: By) -> Forgotten:
    """Forget one, with everything derived from it: 1. Raises NotFound."""
    forgotten = await store.forget(reach, memory_id, by)
    if not forgotten:
        raise unknown(reach)
    return forgotten


async def history(store: MemoryStore, reach: Reach, memory_id: str) -> list[Revision]:
    """What became of a memory, oldest first. Raises NotFound, also for a forgotten one."""
    found = await store.history(reach, memory_id)
    if found is None:
        raise unknown(reach)
    return found
