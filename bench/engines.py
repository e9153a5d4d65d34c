"""The two engines, each with conversations learned word for word."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import asyncpg

from bench.locomo import Conversation
from shared.db.collection import Collection, prepare
from shared.db.migrate import migrate, read_migrations
from shared.db.pool import Database
from shared.payloads import Details, new_payload
from shared.records import Add, By, Door, Vector
from shared.scope import Scope
from shared.stores.local.store import LocalStore
from shared.stores.pg.store import PostgresStore
from shared.stores.ports import MemoryStore

COLLECTION = Collection("agent_memories")

Vectors = Mapping[str, Vector]
Turns = Mapping[str, str]
"""The turn of each memory id."""


def scope_of(conversation: Conversation) -> Scope:
    return Scope(conversation.person, "app:bench")


async def learn(store: MemoryStore, conversations: Sequence[Conversation], vectors: Vectors) -> dict[str, Turns]:
    """Keep every turn word for word; the turns of each person's memories."""
    return {one.person: await _learn(store, one, vectors) for one in conversations}


async def _learn(store: MemoryStore, conversation: Conversation, vectors: Vectors) -> dict[str, str]:
    """Keep every turn word for word; the turn of each memory id."""
    kept = {str(uuid4()): turn for turn in conversation.turns}
    now = datetime.now(UTC)
    adds = [
        Add(
            key,
            new_payload(turn.words, Details(run_id=turn.run_id, learned_at=turn.said_at), now=now),
            vectors[turn.words],
        )
        for key, turn in kept.items()
    ]
    outcomes = await store.commit(scope_of(conversation), adds, By("bench", Door.SERVICE))
    return {outcome.id: turn.id for outcome, turn in zip(outcomes, kept.values(), strict=True)}


@asynccontextmanager
async def postgres(dsn: str) -> AsyncIterator[MemoryStore]:
    connection = await asyncpg.connect(dsn)
    await migrate(connection, read_migrations())
    await prepare(connection, COLLECTION, 384)
    await connection.close()
    database = Database(dsn)
    await database.open()
    yield PostgresStore(database, COLLECTION)
    await database.close()


@asynccontextmanager
async def local(directory: Path) -> AsyncIterator[MemoryStore]:
    store = await LocalStore.open(directory, dimensions=384)
    yield store
    await store.close()


async def analyse(dsn: str) -> None:
    """What the server does by itself within a minute of such a change."""
    connection = await asyncpg.connect(dsn)
    await connection.execute("ANALYZE")
    await connection.close()
