"""What a turn reads: its application's own memories first, then those of each application the person allowed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from runtime_svc import recalling
from runtime_svc.appspecs import Appspecs
from runtime_svc.ports import Reranker
from runtime_svc.recalling import Query
from runtime_svc.turns import Allowances, SharesUnreadError, Turn
from shared.context import HEADER, block, tokens
from shared.ranking import Ranked
from shared.records import Vector
from shared.scope import Reach, Scope
from shared.stores.ports import Embedder, MemoryStore
from shared.tokens import scope_of

_SHARED_PART = 4
"""A quarter of a block's budget is kept for what other applications remember, as far as they need it."""
_AT_ONCE = 4
"""Sources searched at once: a turn of one person must not take every connection."""


@dataclass(frozen=True, slots=True)
class Reader:
    """What a runtime reads with."""

    store: MemoryStore
    embedder: Embedder
    allowances: Allowances
    appspecs: Appspecs
    reranker: Reranker | None = None

    async def best(self, reach: Reach, query: Query, vector: Vector) -> list[Ranked]:
        """The best of a reach, read once more by a reranker where that is asked for."""
        return await recalling.reranked(self.reranker, query, await recalling.best(self.store, reach, query, vector))


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that answers a query."""

    ranked: Ranked
    remembered_by: str | None = None
    """The key of the application that remembers it, when it is another one."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a turn read, or why it read nothing, in a sentence."""

    hits: Sequence[Hit] = ()
    unread: str | None = None


async def find(reader: Reader, turn: Turn, application: str, query: Query) -> Found:
    """The best of an application's own, best first, then of each allowed source; `query.limit` holds for each.

    Raises NotAllowed. What was allowed is never guessed: unread, the turn reads nothing at all.
    """
    scope = scope_of(turn.caller, application)
    if (why := reader.appspecs.why_not(application)) is not None:
        return Found(unread=why)
    try:
        # At once: the platform is asked while the query is embedded.
        sources, vector = await asyncio.gather(
            reader.allowances.sources(turn, application), recalling.vector_of(reader.embedder, query)
        )
    except SharesUnreadError as unread:
        return Found(unread=unread.sentence)
    own = [Hit(one) for one in await reader.best(scope, query, vector)]
    busy = asyncio.Semaphore(_AT_ONCE)

    async def shared(source: str) -> list[Hit]:
        async with busy:
            # The person's own scope in the other application: an allowance never leads to anybody else's.
            best = await reader.best(Scope(scope.person, source), query, vector)
        return [Hit(one, remembered_by=source) for one in best]

    others = await asyncio.gather(*(shared(source) for source in sources))
    return Found([*own, *(hit for hits in others for hit in hits)])


async def find_within(reader: Reader, turn: Turn, reach: Reach, query: Query) -> Found:
    """As `find` in one application; of all of a person's, the best among them, where nothing needs an allowance."""
    if isinstance(reach, Scope):
        return await find(reader, turn, reach.application, query)
    vector = await recalling.vector_of(reader.embedder, query)
    return Found([Hit(one) for one in await reader.best(reach, query, vector)])


def context(found: Found, *, timestamps: bool, max_tokens: int | None) -> str:
    """The recall block for what was found: own first, then the shared ones, each marked; empty when nothing was."""
    own = [hit.ranked.memory for hit in found.hits if hit.remembered_by is None]
    shared = [hit.ranked.memory for hit in found.hits if hit.remembered_by is not None]
    marks = {hit.ranked.memory.id: [f"remembered by: {hit.remembered_by}"] for hit in found.hits if hit.remembered_by}
    if max_tokens is None or not shared or not own:
        return block([*own, *shared], timestamps=timestamps, max_tokens=max_tokens, marks=marks)
    needed = tokens(block(shared, timestamps=timestamps, marks=marks)) - tokens(HEADER)
    kept = min(max_tokens // _SHARED_PART, needed)
    first = block(own, timestamps=timestamps, max_tokens=max_tokens - kept) or HEADER
    rest = max_tokens - tokens(first) + tokens(HEADER)
    second = block(shared, timestamps=timestamps, max_tokens=rest, marks=marks)
    whole = first + second.removeprefix(HEADER)
    return "" if whole == HEADER else whole
