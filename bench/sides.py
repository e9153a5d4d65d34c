"""Ours and stock mem0 on PostgreSQL, with the same acts, for the same person, given the same vectors."""

from __future__ import annotations

import asyncio
import os
import tempfile
from types import SimpleNamespace
from typing import Any, Protocol
from uuid import uuid4

from bench.filled import OURS, STOCK
from bench.people import DIMENSIONS
from runtime_svc import recalling
from runtime_svc.recalling import Query
from shared.db.pool import Database
from shared.payloads import Details, new_payload
from shared.records import Add, By, Door, Patch, Vector
from shared.scope import Scope
from shared.stores.pg.store import PostgresStore
from shared.times import now
from shared.words import lemmatized

BY = By("bench", Door.SERVICE)


class Side(Protocol):
    """What is measured."""

    name: str

    async def add(self, scope: Scope, words: str, vector: Vector) -> str:
        """Keep words as they are; the id."""

    async def add_many(self, scope: Scope, memories: list[tuple[str, Vector]]) -> None:
        """Not measured: as fast as it goes."""

    async def list_50(self, scope: Scope) -> int:
        """The newest fifty; how many came."""

    async def count(self, scope: Scope) -> int:
        """How many there are."""

    async def nearest(self, scope: Scope, vector: Vector) -> list[str]:
        """The ten nearest by meaning alone."""

    async def search(self, scope: Scope, words: str, vector: Vector) -> int:
        """The best ten by all that the software looks at; how many came."""

    async def correct(self, scope: Scope, memory_id: str, words: str, vector: Vector) -> None:
        """New words, embedded."""

    async def forget(self, scope: Scope, memory_id: str) -> None:
        """One."""

    async def forget_all(self, scope: Scope) -> None:
        """All of the scope."""


class Ours:
    """The store that both services use, and the runtime's ranking."""

    name = "ours"

    def __init__(self, database: Database) -> None:
        self._store = PostgresStore(database, OURS)

    async def add(self, scope: Scope, words: str, vector: Vector) -> str:
        one = Add(str(uuid4()), new_payload(words, Details(), now=now()), vector)
        return (await self._store.commit(scope, [one], BY))[0].id

    async def add_many(self, scope: Scope, memories: list[tuple[str, Vector]]) -> None:
        adds = [Add(str(uuid4()), new_payload(words, Details(), now=now()), vector) for words, vector in memories]
        await self._store.commit(scope, adds, BY)

    async def list_50(self, scope: Scope) -> int:
        return len((await self._store.page(scope, limit=50)).memories)

    async def count(self, scope: Scope) -> int:
        return await self._store.count(scope)

    async def nearest(self, scope: Scope, vector: Vector) -> list[str]:
        found = await self._store.candidates(scope, vector=vector, lexemes=[], limit=10)
        ranked = sorted(found.found, key=lambda one: -(one.cosine or 0))
        return [one.memory.id for one in ranked]

    async def search(self, scope: Scope, words: str, vector: Vector) -> int:
        return len(await recalling.best(self._store, scope, Query(words), vector))

    async def correct(self, scope: Scope, memory_id: str, words: str, vector: Vector) -> None:
        patch = Patch(words=words, lexemes=lemmatized(words), vector=vector)
        assert await self._store.correct(scope, memory_id, patch, BY) is not None

    async def forget(self, scope: Scope, memory_id: str) -> None:
        assert await self._store.forget(scope, memory_id, BY) == 1

    async def forget_all(self, scope: Scope) -> None:
        assert await self._store.forget_all(scope, BY, confirmed=None) > 0


class Stock:
    """`mem0.Memory` as released, on its own table with its HNSW index; its history in memory."""

    name = "stock"

    def __init__(self, dsn: str) -> None:
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": tempfile.mkdtemp(prefix="stock-mem0-")}
        import mem0  # noqa: PLC0415 (reads its environment as it is imported)

        unused = {"provider": "openai", "config": {"api_key": "unused"}}
        table = {"connection_string": dsn, "collection_name": STOCK, "embedding_model_dims": DIMENSIONS, "maxconn": 10}
        self._memory: Any = mem0.Memory.from_config(
            {
                "vector_store": {"provider": "pgvector", "config": table},
                "llm": unused,
                "embedder": unused,
                "history_db_path": ":memory:",
            }
        )
        self._embedder = _Given()
        self._memory.embedding_model = self._embedder

    def close(self) -> None:
        self._memory.vector_store.connection_pool.close()

    async def add(self, scope: Scope, words: str, vector: Vector) -> str:
        self._embedder.vector = vector.tolist()
        said = [{"role": "user", "content": words}]
        made = await asyncio.to_thread(self._memory.add, said, infer=False, **_owner(scope))
        return str(made["results"][0]["id"])

    async def add_many(self, scope: Scope, memories: list[tuple[str, Vector]]) -> None:
        payloads = [new_payload(words, Details(), now=now()) | _owner(scope) for words, _ in memories]
        vectors = [vector.tolist() for _, vector in memories]
        ids = [str(uuid4()) for _ in memories]
        await asyncio.to_thread(self._memory.vector_store.insert, vectors, payloads, ids)

    async def list_50(self, scope: Scope) -> int:
        return len((await asyncio.to_thread(self._memory.get_all, filters=_owner(scope), top_k=50))["results"])

    async def count(self, scope: Scope) -> int:
        """It has no count: what it lists."""
        return len((await asyncio.to_thread(self._memory.get_all, filters=_owner(scope), top_k=1000))["results"])

    async def nearest(self, scope: Scope, vector: Vector) -> list[str]:
        found = await asyncio.to_thread(self._memory.vector_store.search, "", vector.tolist(), 10, _owner(scope))
        return [str(one.id) for one in found]

    async def search(self, scope: Scope, words: str, vector: Vector) -> int:
        self._embedder.vector = vector.tolist()
        found = await asyncio.to_thread(self._memory.search, words, filters=_owner(scope), top_k=10)
        return len(found["results"])

    async def correct(self, scope: Scope, memory_id: str, words: str, vector: Vector) -> None:
        del scope
        self._embedder.vector = vector.tolist()
        await asyncio.to_thread(self._memory.update, memory_id, words)

    async def forget(self, scope: Scope, memory_id: str) -> None:
        del scope
        await asyncio.to_thread(self._memory.delete, memory_id)

    async def forget_all(self, scope: Scope) -> None:
        await asyncio.to_thread(self._memory.delete_all, **_owner(scope))


def _owner(scope: Scope) -> dict[str, str]:
    return {"user_id": scope.person, "agent_id": scope.application}


class _Given:
    """An embedder whose next vector is known."""

    def __init__(self) -> None:
        self.vector: list[float] = []
        self.config = SimpleNamespace(embedding_dims=DIMENSIONS)

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        del text, memory_action
        return self.vector

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        del memory_action
        return [self.vector for _ in texts]
