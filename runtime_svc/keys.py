"""The typed keys of what the runtime keeps on its application."""

from __future__ import annotations

from aiohttp import web

from shared.stores.ports import Embedder, MemoryStore

STORE: web.AppKey[MemoryStore] = web.AppKey("store", MemoryStore)
EMBEDDER: web.AppKey[Embedder] = web.AppKey("embedder", Embedder)
