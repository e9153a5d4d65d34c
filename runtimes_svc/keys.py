"""The typed keys of what the platform keeps on its application."""

from __future__ import annotations

from aiohttp import web

from shared.stores.ports import MemoryStore

STORE: web.AppKey[MemoryStore] = web.AppKey("store", MemoryStore)
