"""An Embedder on any provider that mem0 has, when the configuration names one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime_svc.engine.checked_llm import bounded
from runtime_svc.engine.config import SETTING, Provider
from runtime_svc.engine.extraction import refusals
from runtime_svc.engine.library import load
from runtime_svc.engine.threads import DaemonExecutor
from shared.errors import Unavailable
from shared.records import Vector
from shared.settings import BadSettingError


class ProviderEmbedder:
    """Turns words into vectors through mem0's EmbedderFactory, on threads of its own, a bounded number at a time."""

    def __init__(self, embedder: Any, threads: DaemonExecutor, *, parallel: int, seconds: float) -> None:
        self._embedder = embedder
        self._threads = threads
        self._seconds = seconds
        self._free = asyncio.Semaphore(parallel)
        self._dimensions = 0

    @classmethod
    async def open(cls, provider: Provider, *, parallel: int = 4, seconds: float = 30.0) -> ProviderEmbedder:
        """Load mem0 and the provider, off the loop. Raises BadSettingError for a provider that cannot be used.

        A provider that does not say how long its vectors are is asked for one: Unavailable when it does not answer.
        """
        threads = DaemonExecutor(parallel, "embedder")
        try:
            loaded = await asyncio.get_running_loop().run_in_executor(threads, _construct, provider, seconds)
            made = cls(loaded, threads, parallel=parallel, seconds=seconds)
            made._dimensions = loaded.config.embedding_dims or (await made._answer(["dimensions"])).shape[1]
        except BaseException:
            threads.shutdown()
            raise
        return made

    async def close(self) -> None:
        """Let the threads go."""
        self._threads.shutdown()

    @property
    def dimensions(self) -> int:
        """The length of its vectors."""
        return self._dimensions

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """A vector of unit length for each text, in order. Raises Unavailable."""
        if not texts:
            return []
        vectors = await self._answer(texts)
        if vectors.shape != (len(texts), self._dimensions):
            raise Unavailable(f"The embedder answered vectors that are not of {self._dimensions} dimensions.")
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.all(np.isfinite(lengths)) or not np.all(lengths):
            raise Unavailable("The embedder answered a vector without a direction.")
        return list(vectors / lengths)

    async def _answer(self, texts: Sequence[str]) -> Any:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._seconds), self._free:
                answered = await loop.run_in_executor(self._threads, self._embedder.embed_batch, list(texts), "add")
            return np.asarray(answered, dtype=np.float32)
        except Exception as error:
            raise Unavailable(f"The embedder failed ({type(error).__name__}).", retry_after=5) from error


def _construct(provider: Provider, seconds: float) -> Any:
    factory = load().EmbedderFactory
    if provider.name not in factory.provider_to_class:
        known = ", ".join(sorted(factory.provider_to_class))
        raise BadSettingError(f"{SETTING}: mem0 knows no such embedder provider; it knows {known}.")
    with refusals("embedder", provider):
        embedder = factory.create(provider.name, dict(provider.config), None)
    if hasattr(embedder, "client"):
        embedder.client = bounded(embedder.client, seconds)
    return embedder
