"""The typed keys of what the runtime keeps on its application."""

from __future__ import annotations

from aiohttp import web

from runtime_svc.appspecs import Appspecs
from runtime_svc.chat.door import ChatDoor
from runtime_svc.learning import Learning
from runtime_svc.mcp.visit import McpDoor
from runtime_svc.ports import Reranker
from runtime_svc.turns import Allowances
from shared.stores.outbox import Outbox
from shared.stores.ports import Embedder, EntityExtractor
from shared.stores.queue import LearnQueue

EMBEDDER: web.AppKey[Embedder] = web.AppKey("embedder", Embedder)
ALLOWANCES: web.AppKey[Allowances] = web.AppKey("allowances", Allowances)
APPSPECS = web.AppKey("appspecs", Appspecs)
MCP: web.AppKey[McpDoor] = web.AppKey("mcp", McpDoor)
OUTBOX: web.AppKey[Outbox] = web.AppKey("outbox", Outbox)
QUEUE: web.AppKey[LearnQueue] = web.AppKey("queue", LearnQueue)
LEARNING = web.AppKey("learning", Learning)
CHAT = web.AppKey("chat", ChatDoor)

PRIVATE_WEBHOOKS = web.AppKey("private_webhooks", bool)
"""Whether webhooks may be at private addresses."""
RERANKER: web.AppKey[Reranker] = web.AppKey("reranker", Reranker)
"""Absent unless one is configured."""
ENTITIES: web.AppKey[EntityExtractor] = web.AppKey("entities", EntityExtractor)
"""Absent unless RUNTIME_ENTITIES is on."""
