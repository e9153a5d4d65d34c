"""A Reranker on any provider that mem0 has, when the configuration names one."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any

import structlog

from runtime_svc.engine.checked_llm import bounded
from runtime_svc.engine.config import SETTING, Provider
from runtime_svc.engine.extraction import refusals
from runtime_svc.engine.library import load
from runtime_svc.engine.threads import DaemonExecutor
from shared.logs import fault
from shared.settings import BadSettingError

log = structlog.get_logger()


class ProviderReranker:
    """Scores what was found through mem0's RerankerFactory, on threads of its own, within a time limit."""

    def __init__(self, reranker: Any, threads: DaemonExecutor, *, parallel: int, seconds: float) -> None:
        self._reranker = reranker
        self._threads = threads
        self._seconds = seconds
        self._free = asyncio.Semaphore(parallel)

    @classmethod
    async def open(cls, provider: Provider, *, parallel: int = 2, seconds: float = 3.0) -> ProviderReranker:
        """Load mem0 and the provider, off the loop. Raises BadSettingError for a provider that cannot be used."""
        threads = DaemonExecutor(parallel, "reranker")
        try:
            loaded = await asyncio.get_running_loop().run_in_executor(threads, _construct, provider, seconds)
        except BaseException:
            threads.shutdown()
            raise
        return cls(loaded, threads, parallel=parallel, seconds=seconds)

    async def close(self) -> None:
        """Let the threads go."""
        self._threads.shutdown()

    async def scores(self, query: str, texts: Sequence[str]) -> list[float] | None:
        """See the port. A provider that fails, or takes too long, is noted by its kind only."""
        try:
            async with asyncio.timeout(self._seconds), self._free:
                return await asyncio.get_running_loop().run_in_executor(self._threads, self._scored, query, texts)
        except Exception as error:  # noqa: BLE001 (each provider raises what it likes; the own order stands)
            log.warning("rerank.failed", **fault(error))
            return None

    def _scored(self, query: str, texts: Sequence[str]) -> list[float]:
        documents = [{"memory": text, "place": place} for place, text in enumerate(texts)]
        found = {one["place"]: float(one["rerank_score"]) for one in self._reranker.rerank(query, documents)}
        scores = [found.get(place, 0.0) for place in range(len(texts))]
        if not all(math.isfinite(score) for score in scores):
            raise ValueError("a score is no number")
        return [min(max(score, 0.0), 1.0) for score in scores]


def _construct(provider: Provider, seconds: float) -> Any:
    factory = load().RerankerFactory
    if provider.name not in factory.provider_to_class:
        known = ", ".join(sorted(factory.provider_to_class))
        raise BadSettingError(f"{SETTING}: mem0 knows no such reranker provider; it knows {known}.")
    with refusals("reranker", provider):
        reranker = factory.create(provider.name, dict(provider.config))
    holder: Any = getattr(reranker, "llm", reranker)
    if hasattr(holder, "client"):
        holder.client = bounded(holder.client, seconds)
    return reranker
