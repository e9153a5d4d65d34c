"""Who looked: what a credential does in another person's name is recorded, and that person reads the record."""

from __future__ import annotations

from aiohttp import web
from aiohttp.typedefs import Handler

from shared.access import Access
from shared.http import body
from shared.http.answers import answer
from shared.http.keys import ACCESS, CALLER, REACHED, RECORDED
from shared.records import Door
from shared.scope import Everything, unusable
from shared.times import now
from shared.tokens import Person, reach_of

_DOORS = (
    ("/api/v1/llm/gateway/chat/", Door.CHAT),
    ("/api/v1/llm/", Door.GATEWAY),
    ("/api/v1/apps/", Door.APPS),
    ("/api/runtimes/", Door.PLATFORM),
    ("/api/memory", Door.STATE),
    ("/mcp/", Door.MCP),
)


def door_of(path: str) -> Door:
    """The dialect that a path belongs to; what is left are the paths of the Mem0 dialect."""
    return next((door for start, door in _DOORS if path.startswith(start)), Door.MEM0)


@web.middleware
async def record_access(request: web.Request, handler: Handler) -> web.StreamResponse:
    """After authentication. The answer is held back until the access is kept: nothing is shown unrecorded.

    A change that was made is told by history and receipts too, so a record that cannot be kept is a 503 there as well.
    """
    response = await handler(request)
    if response.status < 400 and RECORDED not in request:
        verb = getattr(request.match_info.handler, "__name__", "request")
        await record(request, verb, *request.get(REACHED, (0, _application(request))))
    return response


async def record(request: web.Request, verb: str, memories: int, application: str | None) -> None:
    """Keep a request's access now, when it is in another person's name. Raises Unavailable.

    For a handler whose name is not the verb, or whose answer cannot be held back.
    """
    caller = request.get(CALLER)
    if isinstance(caller, Person) and caller.actor != caller.uid:
        access = Access(caller.actor, verb, door_of(request.path), application, memories, now())
        await request.app[ACCESS].note(Everything(caller.uid), access)
    request[RECORDED] = True


def _application(request: web.Request) -> str | None:
    named, caller = request.match_info.get("app"), request.get(CALLER)
    if named is not None and unusable(named) is None:
        return f"app:{named}"
    return caller.application if isinstance(caller, Person) else None


def shown_access(access: Access) -> dict[str, object]:
    """One access as the person reads it: who, what, where, how many, when."""
    return {
        "actor": access.actor,
        "verb": access.verb,
        "door": access.door,
        "app": access.application,
        "memories": access.memories,
        "at": access.at.isoformat(),
    }


async def list_accesses(request: web.Request) -> web.Response:
    """Who reached the caller's memories in another's name, newest first; a bound key's own application only."""
    body.refuse_foreign_paging(request)
    found = await request.app[ACCESS].accesses(
        reach_of(request[CALLER]),
        limit=body.integer(request, "limit", default=100, least=1, most=1000) or 100,
        offset=body.integer(request, "offset", default=0) or 0,
    )
    return answer({"success": True, "count": len(found), "access": [shown_access(one) for one in found]})
