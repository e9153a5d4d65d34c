"""Every route of the Mem0 dialect, as a table."""

from __future__ import annotations

from aiohttp import web

from runtime_svc.handlers import (
    mem0_account,
    mem0_batch,
    mem0_events,
    mem0_extras,
    mem0_finding,
    mem0_memories,
    mem0_project,
    mem0_webhooks,
)

_PROJECT = "/api/v1/orgs/organizations/{organization}/projects/{project}"
_WEBHOOKS = "/api/v1/webhooks/projects/{project}"
_ONE = "/v1/memories/{memory_id}"

ROUTES: list[web.RouteDef] = [
    web.get("/v1/ping", mem0_account.ping),
    web.post("/v1/memories", mem0_memories.add),
    web.post("/v3/memories/add", mem0_memories.add_v3),
    web.post("/v1/memories/search", mem0_finding.search_v1),
    web.post("/v2/memories/search", mem0_finding.search),
    web.post("/v3/memories/search", mem0_finding.search),
    web.get("/v1/memories", mem0_finding.list_v1),
    web.post("/v2/memories", mem0_finding.list_v2),
    web.post("/v3/memories", mem0_finding.list_v3),
    web.delete("/v1/memories", mem0_memories.delete_all),
    web.get(_ONE, mem0_memories.get),
    web.put(_ONE, mem0_memories.update),
    web.delete(_ONE, mem0_memories.delete),
    web.get(f"{_ONE}/history", mem0_memories.history),
    web.get("/v1/entities", mem0_account.entities),
    web.delete("/v1/entities/{kind}/{name:.+?}", mem0_account.delete_entity_by_number),
    web.delete("/v2/entities/{kind}/{name:.+?}", mem0_account.delete_entity),
    web.get("/v2/entities/{kind}/{name:.+?}", mem0_account.no_profile),
    web.get("/v1/event/{event_id}", mem0_events.get_event),
    web.get("/v1/events", mem0_events.list_events),
    web.post("/v1/exports", mem0_extras.create_export),
    web.post("/v1/exports/get", mem0_extras.get_export),
    web.post("/v1/feedback", mem0_extras.feedback),
    web.post("/v1/summary", mem0_extras.summary),
    web.get(_PROJECT, mem0_project.get),
    web.patch(_PROJECT, mem0_project.update),
    web.delete(_PROJECT, mem0_project.refuse),
    web.get(_WEBHOOKS, mem0_webhooks.list_webhooks),
    web.post(_WEBHOOKS, mem0_webhooks.create),
    web.put("/api/v1/webhooks/{webhook_id}", mem0_webhooks.update),
    web.delete("/api/v1/webhooks/{webhook_id}", mem0_webhooks.delete),
    web.put("/v1/batch", mem0_batch.update),
    web.delete("/v1/batch", mem0_batch.delete),
]
