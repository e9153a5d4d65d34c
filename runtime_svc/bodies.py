"""The bodies of the runtime's routes, for its OpenAPI document."""

from __future__ import annotations

from runtime_svc.handlers import (
    apps,
    gateway,
    learning,
    mem0_batch,
    mem0_extras,
    mem0_finding,
    mem0_memories,
    mem0_project,
    mem0_webhooks,
    tools,
)
from runtime_svc.mem0_dialect.adding import Adding
from shared.http import api_keys, data, page
from shared.http.openapi import Bodies

BODIES: Bodies = {
    learning.learn: learning.Learn,
    apps.search: apps.Search,
    apps.recall: apps.Recall,
    apps.correct: apps.Words,
    tools.search_memory: tools.Search,
    tools.remember: tools.Remember,
    data.put: data.Data,
    gateway.search: gateway.Search,
    gateway.list_memories: gateway.Listing,
    gateway.get_memory: gateway.One,
    gateway.update_memory: gateway.Correction,
    gateway.delete_memory: gateway.One,
    gateway.delete_all_memories: gateway.InApplication,
    api_keys.create_key: api_keys.NewKey,
    mem0_memories.add: Adding,
    mem0_memories.add_v3: Adding,
    mem0_memories.update: mem0_memories.Revision,
    mem0_finding.search_v1: mem0_finding.Searching,
    mem0_finding.search: mem0_finding.Searching,
    mem0_finding.list_v2: mem0_finding.Listing,
    mem0_finding.list_v3: mem0_finding.Listing,
    mem0_batch.update: mem0_batch.Batch,
    mem0_batch.delete: mem0_batch.Batch,
    mem0_extras.create_export: mem0_extras.Export,
    mem0_extras.get_export: mem0_extras.Exported,
    mem0_extras.feedback: mem0_extras.Feedback,
    mem0_extras.summary: mem0_extras.Within,
    mem0_project.update: mem0_project.Project,
    mem0_webhooks.create: mem0_webhooks.NewWebhook,
    mem0_webhooks.update: mem0_webhooks.ChangedWebhook,
    page.sign_in: page.SignIn,
}
