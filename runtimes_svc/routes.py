"""Every route of the platform service, as a table."""

from __future__ import annotations

from aiohttp import web

from runtimes_svc.handlers import administration, memories, shares
from shared.http import accesses, api_keys, page, receipts, states

_MEMORIES = "/api/runtimes/v1/memories"
_SHARES = "/api/runtimes/v1/memory-shares"

ROUTES: list[web.RouteDef] = [
    web.get(_MEMORIES, memories.list_memories),
    web.delete(_MEMORIES, memories.forget_all),
    web.get(f"{_MEMORIES}/stats", administration.stats),
    web.get(_MEMORIES + "/{memory_id}", memories.get_memory),
    web.patch(_MEMORIES + "/{memory_id}", memories.correct),
    web.delete(_MEMORIES + "/{memory_id}", memories.forget),
    web.get(_MEMORIES + "/{memory_id}/history", memories.history),
    web.get("/api/runtimes/v1/memory-receipts", receipts.list_receipts),
    web.get("/api/runtimes/v1/memory-access", accesses.list_accesses),
    web.get("/api/runtimes/v1/memory-applications", receipts.list_applications),
    web.get(_SHARES, shares.list_shares),
    web.put(_SHARES, shares.allow),
    web.delete(_SHARES, shares.stop),
    *states.routes(),
    *page.routes(),
    web.post("/api/runtimes/v1/api-keys", api_keys.create_key),
    web.get("/api/runtimes/v1/api-keys", api_keys.list_keys),
    web.delete("/api/runtimes/v1/api-keys/{key_id}", api_keys.revoke_key),
]
