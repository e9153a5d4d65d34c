"""What a runtime opens at start and closes at the end, each as one cleanup context of the application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from aiohttp import web

from runtime_svc.appspecs import Appspecs, read_directory
from runtime_svc.chat.door import ChatDoor
from runtime_svc.chat.learning import Learner
from runtime_svc.chat.provider import Provider
from runtime_svc.engine.config import EngineConfig
from runtime_svc.engine.embedder import MiniLM
from runtime_svc.engine.entities import Mem0Entities
from runtime_svc.engine.provider_embedder import ProviderEmbedder
from runtime_svc.engine.provider_reranker import ProviderReranker
from runtime_svc.keys import (
    ALLOWANCES,
    APPSPECS,
    CHAT,
    EMBEDDER,
    ENTITIES,
    LEARNING,
    MCP,
    OUTBOX,
    PRIVATE_WEBHOOKS,
    RERANKER,
)
from runtime_svc.mcp.bridge import LOOPBACK_HOSTS, LOOPBACK_ORIGINS, Bridge
from runtime_svc.naming import naming_store
from runtime_svc.settings import RuntimeSettings, named
from runtime_svc.shares import PlatformShares
from runtime_svc.turns import NoPlatform
from runtime_svc.webhooks.delivery import Senders
from shared.addresses import origins_of
from shared.http.keys import CLIENT_RECORDS, MAINTENANCE, STORE
from shared.http.metrics import METRICS
from shared.maintaining import Upkeep
from shared.settings import BadSettingError

Resource = Callable[[web.Application], AsyncIterator[None]]


def embedder(settings: RuntimeSettings, engine: EngineConfig) -> Resource:
    """The provider's that the configuration names, or the built-in one."""

    async def resource(app: web.Application) -> AsyncIterator[None]:
        model = await (MiniLM.open() if engine.embedder is None else ProviderEmbedder.open(engine.embedder))
        try:
            if model.dimensions != settings.dimensions:
                raise BadSettingError(
                    f"The embedder makes vectors of {model.dimensions} dimensions, and MEMORY_VECTOR_DIMENSIONS says"
                    f" {settings.dimensions}."
                )
            app[EMBEDDER] = model
            yield
        finally:
            await model.close()

    return resource


def reranker(settings: RuntimeSettings, engine: EngineConfig) -> Resource:
    """The provider's that the configuration names, if any."""

    async def resource(app: web.Application) -> AsyncIterator[None]:
        if engine.reranker is None:
            yield
            return
        model = await ProviderReranker.open(engine.reranker, seconds=settings.rerank_seconds)
        app[RERANKER] = model
        yield
        await model.close()

    return resource


def entities(settings: RuntimeSettings) -> Resource:
    """The store from here on keeps with each memory which entities it names, where that is asked for."""

    async def resource(app: web.Application) -> AsyncIterator[None]:
        if not settings.entities:
            yield
            return
        model = await Mem0Entities.open()
        app[ENTITIES] = model
        app[STORE] = naming_store(app[STORE], model)
        yield
        await model.close()

    return resource


def allowances(settings: RuntimeSettings) -> Resource:
    """How allowances are read: from the platform, or not at all where the operator says that there is none."""

    async def resource(app: web.Application) -> AsyncIterator[None]:
        if not settings.shares:
            app[ALLOWANCES] = NoPlatform()
            yield
            return
        shares = PlatformShares(settings.runtimes_url)
        await shares.open()
        app[ALLOWANCES] = shares
        yield
        await shares.close()

    return resource


def appspecs(settings: RuntimeSettings) -> Resource:
    """The Appspecs, read once."""

    async def resource(app: web.Application) -> AsyncIterator[None]:
        if settings.apps_dir is None:
            app[APPSPECS] = Appspecs(None)
        else:
            try:
                app[APPSPECS] = await asyncio.to_thread(read_directory, settings.apps_dir)
            except NotADirectoryError as error:
                raise BadSettingError(str(error)) from error
        yield

    return resource


def mcp(settings: RuntimeSettings) -> Resource:
    """The MCP server, known by the names that the settings say or by those of this machine."""

    async def resource(app: web.Application) -> AsyncIterator[None]:
        bridge = Bridge(
            hosts=named(settings.mcp_hosts) or LOOPBACK_HOSTS,
            origins=named(settings.mcp_origins) or [*LOOPBACK_ORIGINS, *origins_of(settings.web_origins)],
        )
        await bridge.open()
        app[MCP] = bridge
        yield
        await bridge.close()

    return resource


def chat(settings: RuntimeSettings) -> Resource:
    """The provider of conversations, and who learns from them; after learning itself."""

    async def resource(app: web.Application) -> AsyncIterator[None]:
        key = settings.chat_key
        provider = Provider(
            settings.chat_base_url,
            None if key is None else key.get_secret_value(),
            seconds=settings.chat_seconds,
        )
        learner = Learner(app[LEARNING], app[APPSPECS])
        await provider.open()
        app[METRICS].count("chat_left_out", "Turns of conversations that were not kept.", lambda: learner.left_out)
        app[METRICS].count("chat_late", "Turns that were kept after their answer had ended.", lambda: learner.late)
        app[CHAT] = ChatDoor(provider, learner, settings.recall_budget / 1000, settings.chat_nobody)
        yield
        await learner.close()
        await provider.close()

    return resource


def webhooks(settings: RuntimeSettings) -> Resource:
    """What waits in the outbox is sent."""

    async def resource(app: web.Application) -> AsyncIterator[None]:
        outbox, metrics = app[OUTBOX], app[METRICS]
        senders = Senders(outbox, app[CLIENT_RECORDS], app[STORE], private=settings.private_webhooks)
        app[PRIVATE_WEBHOOKS] = settings.private_webhooks
        metrics.watch("webhook_waiting", "Messages that wait for webhooks.", outbox.waiting)
        metrics.count("webhook_told", "Messages that webhooks took.", lambda: senders.numbers.told)
        metrics.count("webhook_given_up", "Messages that were tried in vain.", lambda: senders.numbers.given_up)
        metrics.count("webhook_too_old", "Messages that waited too long.", lambda: senders.numbers.too_old)
        metrics.count("webhook_refused", "Messages refused because too many waited.", lambda: outbox.refused)
        senders.start()
        yield
        await senders.close()

    return resource


def upkeep(settings: RuntimeSettings) -> Resource:
    """Meaning follows words that were corrected without an embedder; what has expired goes."""

    async def resource(app: web.Application) -> AsyncIterator[None]:
        model = app[EMBEDDER] if settings.reembed else None
        running = Upkeep(app[MAINTENANCE], model, grace_days=settings.expiry_grace_days, entities=app.get(ENTITIES))
        app[METRICS].count("upkeep_set_aside", "Memories that the embedder refused.", lambda: running.set_aside)
        running.start()
        yield
        await running.close()

    return resource
