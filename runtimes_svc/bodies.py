"""The bodies of the platform's routes, for its OpenAPI document."""

from __future__ import annotations

from runtimes_svc.handlers import memories, shares
from shared.http import api_keys, page
from shared.http.openapi import Bodies

BODIES: Bodies = {
    memories.correct: memories.Words,
    shares.allow: shares.Allow,
    api_keys.create_key: api_keys.NewKey,
    page.sign_in: page.SignIn,
}
