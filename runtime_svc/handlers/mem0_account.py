"""The Mem0 dialect on the key's own account: ping, the entities there are, and forgetting one of them."""

from __future__ import annotations

from aiohttp import web

from runtime_svc.handlers.mem0_memories import by, noted, within
from runtime_svc.mem0_dialect.asking import asked
from runtime_svc.mem0_dialect.paging import paging_of
from runtime_svc.mem0_dialect.projects import ORGANIZATION, project_of
from runtime_svc.mem0_dialect.views import entity_number, shown_entities
from shared.entities import KINDS, Entity, Kind
from shared.errors import BadValue, NotFound
from shared.http.answers import answer
from shared.http.keys import CALLER, STORE

_PAGE = 100
_MOST = 1000


async def ping(request: web.Request) -> web.Response:
    """That the key holds, and the ids that clients want to have."""
    project = project_of(request[CALLER])
    return answer({"status": "ok", "org_id": ORGANIZATION, "project_id": project, "user_email": None})


async def entities(request: web.Request) -> web.Response:
    """All of them, or a page where one is asked for, with how much is remembered of each."""
    reach = within(request)
    found = await request.app[STORE].entities(reach)
    asked_for = {"page", "page_size"} & request.query.keys()
    paging = paging_of(request, size=_PAGE if asked_for else max(len(found), 1), most=max(len(found), _MOST))
    noted(request, reach, sum(one.total for one in found if one.kind == "app"))
    return answer(shown_entities(found, reach.person, paging))


async def delete_entity(request: web.Request) -> web.Response:
    """Forget all that is remembered of one, by its name."""
    return await _forgotten(request, _name(request))


async def delete_entity_by_number(request: web.Request) -> web.Response:
    """The same for clients that name it by its number; what is no entity's number is a name."""
    given, kind, reach = _name(request), _kind(request), within(request)
    known = [*await request.app[STORE].entities(reach), Entity("user", reach.person, 0, None, None)]
    numbered = {str(entity_number(one)): one.name for one in known if one.kind == kind}
    return await _forgotten(request, numbered.get(given, given))


async def _forgotten(request: web.Request, name: str) -> web.Response:
    wanted = asked(request[CALLER], {f"{_kind(request)}_id": {"in": [name]}})
    request[CALLER] = wanted.caller
    forgotten = await request.app[STORE].forget_all(wanted.reach, by(request), confirmed=None, where=wanted.where)
    noted(request, wanted.reach, forgotten)
    return answer({"message": "Entity deleted successfully!", **forgotten.shown("deleted")})


async def no_profile(_: web.Request) -> web.Response:
    """Profiles are not kept here: an address that is not there, whatever else stands at it. Raises NotFound."""
    raise NotFound("There is nothing at this address.")


def _name(request: web.Request) -> str:
    """The whole rest of the path: old clients send a name with slashes as it is, and all end it with one more.

    Raises BadValue for `*`: a filter means any by it, and no entity is named so.
    """
    name = request.match_info["name"].removesuffix("/")
    if name == "*":
        raise BadValue("* names no entity: to forget all of a kind, delete the memories of any (`?user_id=*`).")
    return name


def _kind(request: web.Request) -> Kind:
    kind = request.match_info["kind"]
    if kind not in KINDS:
        raise BadValue("Invalid entity type")
    return kind
