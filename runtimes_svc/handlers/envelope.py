"""What every answer of the platform is wrapped in, and how it shows memories, as its released clients read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from runtimes_svc.finding import Found
from shared.http import body
from shared.records import Memory, Page
from shared.views import MEMBERS, shown, text

_MEMBERS: Mapping[str, Any] = {
    **MEMBERS,
    **dict.fromkeys(("hash", "user_id", "agent_id", "actor_id", "role", "run_id", "metadata", "scope")),
}


def envelope(message: str, **members: Any) -> dict[str, Any]:
    """A success, with a sentence."""
    return {"success": True, "message": message, **members}


def slice_of(request: web.Request) -> tuple[int, int]:
    """The limit and the offset that a list is asked for with. Raises BadValue."""
    limit = body.integer(request, "limit", default=100, least=1, most=1000) or 100
    return limit, body.integer(request, "offset", default=0) or 0


def shown_here(memory: Memory) -> dict[str, Any]:
    """A memory with its two keys."""
    view, stored = shown(memory, _MEMBERS), memory.payload.get
    view["hash"] = text(stored("hash"))
    view["user_id"] = text(stored("user_id"))
    view["agent_id"] = text(stored("agent_id"))
    view["actor_id"] = stored("actor_id")
    view["role"] = stored("role")
    if view["metadata"] is None:
        view["metadata"] = {}
    else:
        view["scope"] = view["metadata"].get("scope")
    return view


def shown_page(page: Page, person: str, *, limit: int, offset: int) -> dict[str, Any]:
    """A list of one person's memories."""
    memories = [shown_here(memory) for memory in page.memories]
    return envelope(
        "What is remembered.",
        count=len(memories),
        total=page.total,
        next=page.next,
        limit=limit,
        offset=offset,
        user_id=person,
        memories=memories,
    )


def shown_found(found: Found, person: str, *, limit: int, offset: int) -> dict[str, Any]:
    """A list of what was found, each with its score; there is no cursor, for the order is not that of time."""
    memories = [{**shown_here(one.memory), "score": one.score} for one in found.ranked]
    return envelope(
        "What was found.",
        count=len(memories),
        total=found.total,
        next=None,
        limit=limit,
        offset=offset,
        user_id=person,
        memories=memories,
    )
