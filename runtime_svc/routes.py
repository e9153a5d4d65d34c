"""Every route of the runtime service, as a table."""

from __future__ import annotations

from aiohttp import web

from runtime_svc.handlers import applications, apps, chat, events, gateway, learning, mcp, tools
from runtime_svc.mem0_dialect import routes as mem0
from shared.http import accesses, api_keys, data, page, receipts

_GATEWAY = "/api/v1/llm/gateway"
_MEMORIES = "/api/v1/apps/memories/{app}"

ROUTES: list[web.RouteDef] = [
    web.get(_MEMORIES, apps.list_memories),
    web.post(_MEMORIES, learning.learn),
    web.delete(_MEMORIES, apps.forget_all),
    web.post(f"{_MEMORIES}/search", apps.search),
    web.post(f"{_MEMORIES}/recall", apps.recall),
    web.get(_MEMORIES + "/{memory_id}", apps.get_memory),
    web.patch(_MEMORIES + "/{memory_id}", apps.correct),
    web.delete(_MEMORIES + "/{memory_id}", apps.forget),
    web.get(_MEMORIES + "/{memory_id}/history", apps.history),
    web.get("/api/v1/apps/memory-receipts", receipts.list_receipts),
    web.get("/api/v1/apps/memory-access", accesses.list_accesses),
    web.get("/api/v1/apps/memory-applications", receipts.list_applications),
    web.get("/api/v1/apps/memory-events", events.list_events),
    web.get("/api/v1/apps/memory-events/{event_id}", events.get_event),
    web.post("/api/v1/apps/tools/{app}/search_memory", tools.search_memory),
    web.post("/api/v1/apps/tools/{app}/remember", tools.remember),
    web.get("/api/v1/apps/setup-notes/{app}", applications.setup_notes),
    web.post("/api/v1/apps/deployments/{app}/{deployment}/reset", applications.reset_deployment),
    *data.routes(),
    web.post(f"{_GATEWAY}/search-memories", gateway.search),
    web.post(f"{_GATEWAY}/list-memories", gateway.list_memories),
    web.post(f"{_GATEWAY}/get-memory", gateway.get_memory),
    web.post(f"{_GATEWAY}/update-memory", gateway.update_memory),
    web.post(f"{_GATEWAY}/delete-memory", gateway.delete_memory),
    web.post(f"{_GATEWAY}/delete-all-memories", gateway.delete_all_memories),
    web.post(f"{_GATEWAY}/chat/completions", chat.completions),
    web.get(f"{_GATEWAY}/models", chat.models),
    web.post("/mcp/{app}", mcp.message),
    web.get("/mcp/{app}", mcp.stream),
    web.delete("/mcp/{app}", mcp.stream),
    web.post("/api/v1/apps/api-keys", api_keys.create_key),
    web.get("/api/v1/apps/api-keys", api_keys.list_keys),
    web.delete("/api/v1/apps/api-keys/{key_id}", api_keys.revoke_key),
    *mem0.ROUTES,
]

LOCAL_ROUTES: list[web.RouteDef] = page.routes()
"""What a runtime serves beside these where it keeps memories in a directory: no platform stands beside it."""
