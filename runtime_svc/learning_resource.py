"""Learning as a resource of the application: the LLM of the configuration, the queue, and its workers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace

from aiohttp import web

from runtime_svc.categorising import Categoriser
from runtime_svc.engine.config import EngineConfig, read_config
from runtime_svc.engine.extraction import Limits, Mem0Extractor
from runtime_svc.keys import EMBEDDER, LEARNING, QUEUE
from runtime_svc.learning import Learning
from runtime_svc.settings import RuntimeSettings
from runtime_svc.worker import Pace, Worker
from shared.http.keys import STORE
from shared.http.metrics import METRICS

_SPARE = 2
"""Threads of the extractor beyond its workers: a call that was given up holds one until its provider lets go."""
_BESIDE_LLM = 30.0
"""Seconds of an extraction for what is not the LLM: the look-up, the embedding of what was found."""


def engine_config(settings: RuntimeSettings) -> EngineConfig:
    """The LLM and the embedder that the settings name. Raises BadSettingError."""
    text = None if settings.mem0_config is None else settings.mem0_config.get_secret_value()
    return read_config(text, openrouter=settings.openrouter_key is not None)


def learning_resource(
    settings: RuntimeSettings, engine: EngineConfig
) -> Callable[[web.Application], AsyncIterator[None]]:
    """A cleanup context, after the store and the embedder. Raises BadSettingError for an LLM that cannot be used."""

    async def resource(app: web.Application) -> AsyncIterator[None]:
        async with AsyncExitStack() as held:
            extractor = None
            if engine.llm is not None:
                extractor = await Mem0Extractor.open(engine, app[STORE], app[EMBEDDER], limits=_limits(settings))
                held.push_async_callback(extractor.close)
            learning = Learning(
                app[STORE],
                app[EMBEDDER],
                app[QUEUE],
                extractor,
                categoriser=Categoriser(app[EMBEDDER]) if settings.categories else None,
                most_waiting=settings.most_waiting,
            )
            worker = Worker(learning, _pace(settings))
            app[LEARNING] = replace(learning, ring=worker.ring)
            worker.start()
            app[METRICS].watch("queue_depth", "Learns that have not ended.", app[QUEUE].depth)
            held.push_async_callback(worker.close)
            yield

    return resource


def _limits(settings: RuntimeSettings) -> Limits:
    return Limits(
        parallel=settings.learn_workers + _SPARE,
        llm_seconds=settings.llm_seconds,
        seconds=settings.llm_seconds + _BESIDE_LLM,
    )


def _pace(settings: RuntimeSettings) -> Pace:
    return Pace(any=settings.learn_workers, longest=settings.llm_seconds + 2 * _BESIDE_LLM)
