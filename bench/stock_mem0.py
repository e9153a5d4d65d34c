"""mem0 as released (its own pgvector store and search), with the embedder that ours has."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from bench.locomo import Conversation
from shared.records import Vector


class Stock:
    """A stock `mem0.Memory`. Blocking."""

    def __init__(self, dsn: str, vectors: Mapping[str, Vector]) -> None:
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": tempfile.mkdtemp(prefix="stock-mem0-")}
        import mem0  # noqa: PLC0415 (reads its environment as it is imported)

        self._memory: Any = mem0.Memory.from_config(
            {
                "vector_store": {
                    "provider": "pgvector",
                    "config": {"connection_string": dsn, "collection_name": "stock", "embedding_model_dims": 384},
                },
                "llm": {"provider": "openai", "config": {"api_key": "unused"}},
                "embedder": {"provider": "openai", "config": {"api_key": "unused"}},
                "history_db_path": ":memory:",
            }
        )
        self._memory.embedding_model = _Known(vectors)

    def learn(self, conversation: Conversation) -> dict[str, str]:
        """Keep every turn word for word; the turn of each memory id."""
        kept: dict[str, str] = {}
        for turn in conversation.turns:
            said = [{"role": "user", "content": turn.words}]
            answer = self._memory.add(said, user_id=conversation.person, run_id=turn.run_id, infer=False)
            kept |= {row["id"]: turn.id for row in answer["results"]}
        return kept

    def search(self, question: str, person: str) -> list[str]:
        """The ids of the twenty that it finds best."""
        answer = self._memory.search(question, filters={"user_id": person}, top_k=20)
        return [row["id"] for row in answer["results"]]


class _Known:
    """An embedder of texts whose vectors are known."""

    def __init__(self, vectors: Mapping[str, Vector]) -> None:
        self._vectors = {text.strip(): vector for text, vector in vectors.items()}
        self.config = SimpleNamespace(embedding_dims=384)

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        del memory_action
        return list(map(float, self._vectors[text.strip()]))

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text, memory_action) for text in texts]
