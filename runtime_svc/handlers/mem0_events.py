"""The Mem0 dialect's events: what became of what was added."""

from __future__ import annotations

from aiohttp import web

from runtime_svc.handlers.mem0_memories import noted, within
from runtime_svc.keys import LEARNING
from runtime_svc.learning import memories_of
from runtime_svc.mem0_dialect.views import shown_event
from shared.errors import NotFound
from shared.http import body
from shared.http.answers import answer
from shared.http.keys import STORE

_UNKNOWN = "Event not found or you don't have permission to access it."


async def get_event(request: web.Request) -> web.Response:
    """One, readable from the moment its id was answered."""
    reach = within(request)
    event = await request.app[LEARNING].queue.get(reach, request.match_info["event_id"])
    if event is None:
        raise NotFound(_UNKNOWN)
    noted(request, reach, len(event.results))
    return answer(shown_event(event, await memories_of(request.app[STORE], reach, event)))


async def list_events(request: web.Request) -> web.Response:
    """Newest first; `next` is the address of what follows."""
    reach = within(request)
    size = body.integer(request, "page_size", default=50, least=1, most=100) or 50
    page = await request.app[LEARNING].queue.page(reach, limit=size, after=body.text(request, "cursor"))
    memories = await memories_of(request.app[STORE], reach, *page.events)
    results = [shown_event(event, memories) for event in page.events]
    following = None if page.next is None else str(request.url.update_query(cursor=page.next))
    noted(request, reach, sum(len(event.results) for event in page.events))
    return answer({"count": len(results), "next": following, "previous": None, "results": results})
