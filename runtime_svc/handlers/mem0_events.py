"""The Mem0 dialect's events: what became of what was added."""

from __future__ import annotations

from aiohttp import web

from runtime_svc.handlers.mem0_memories import noted, within
from runtime_svc.keys import LEARNING
from runtime_svc.learning import memories_of
from runtime_svc.mem0_dialect.paging import paging_of
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
    """Newest first; `next` is the address of what follows, by cursor unless pages are counted."""
    reach, queue = within(request), request.app[LEARNING].queue
    paging, after = paging_of(request, size=50, most=100), body.text(request, "cursor")
    page = await queue.page(reach, limit=paging.size, offset=0 if after else paging.offset, after=after)
    memories = await memories_of(request.app[STORE], reach, *page.events)
    envelope = paging.envelope(await queue.count(reach), [shown_event(event, memories) for event in page.events])
    if not paging.counted:
        cursor = None if page.next is None else str(request.url.update_query(cursor=page.next))
        envelope |= {"next": cursor, "previous": None}
    noted(request, reach, sum(len(event.results) for event in page.events))
    return answer(envelope)
