"""Every route of the runtime service, as a table."""

from __future__ import annotations

from aiohttp import web

from runtime_svc.handlers import applications, apps, tools

_MEMORIES = "/api/v1/apps/memories/{app}"

ROUTES: list[web.RouteDef] = [
    web.get(_MEMORIES, apps.list_memories),
    web.post(_MEMORIES, apps.learn),
    web.delete(_MEMORIES, apps.forget_all),
    web.post(f"{_MEMORIES}/search", apps.search),
    web.post(f"{_MEMORIES}/recall", apps.recall),
    web.get(_MEMORIES + "/{memory_id}", apps.get_memory),
    web.patch(_MEMORIES + "/{memory_id}", apps.correct),
    web.delete(_MEMORIES + "/{memory_id}", apps.forget),
    web.get(_MEMORIES + "/{memory_id}/history", apps.history),
    web.post("/api/v1/apps/tools/{app}/search_memory", tools.search_memory),
    web.post("/api/v1/apps/tools/{app}/remember", tools.remember),
    web.get("/api/v1/apps/setup-notes/{app}", applications.setup_notes),
    web.post("/api/v1/apps/deployments/{app}/{deployment}/reset", applications.reset_deployment),
]
