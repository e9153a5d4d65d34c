"""The typed keys of what the platform keeps on its application."""

from __future__ import annotations

from aiohttp import web

from shared.access import AccessRecord
from shared.administration import Administration
from shared.shares import Shares
from shared.stores.ports import MemoryStore

STORE: web.AppKey[MemoryStore] = web.AppKey("store", MemoryStore)
SHARES: web.AppKey[Shares] = web.AppKey("shares", Shares)
ADMINISTRATION: web.AppKey[Administration] = web.AppKey("administration", Administration)
ACCESS: web.AppKey[AccessRecord] = web.AppKey("access", AccessRecord)
