"""Every route of the platform service, as a table."""

from __future__ import annotations

from aiohttp import web

from runtimes_svc.handlers import memories

_MEMORIES = "/api/runtimes/v1/memories"

ROUTES: list[web.RouteDef] = [
    web.get(_MEMORIES, memories.list_memories),
    web.delete(_MEMORIES, memories.forget_all),
    web.get(_MEMORIES + "/{memory_id}", memories.get_memory),
    web.patch(_MEMORIES + "/{memory_id}", memories.correct),
    web.delete(_MEMORIES + "/{memory_id}", memories.forget),
    web.get(_MEMORIES + "/{memory_id}/history", memories.history),
]
