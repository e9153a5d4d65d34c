"""The Mem0 dialect on the key's own account: ping, the entities there are, and forgetting one of them."""

from __future__ import annotations

from aiohttp import web

from runtime_svc.handlers.mem0_memories import by, noted, within
from runtime_svc.mem0_dialect.asking import asked
from runtime_svc.mem0_dialect.projects import ORGANIZATION, project_of
from runtime_svc.mem0_dialect.views import entity_number, shown_entities
from shared.entities import KINDS, Kind
from shared.errors import BadValue, NotFound
from shared.http.answers import answer
from shared.http.keys import CALLER, STORE


async def ping(request: web.Request) -> web.Response:
    """That the key holds, and the ids that clients want to have."""
    project = project_of(request[CALLER])
    return answer({"status": "ok", "org_id": ORGANIZATION, "project_id": project, "user_email": None})


async def entities(request: web.Request) -> web.Response:
    """All of them, with how much is remembered of each."""
    reach = within(request)
    found = await request.app[STORE].entities(reach)
    noted(request, reach, sum(one.total for one in found if one.kind == "app"))
    return answer(shown_entities(found, reach.person))


async def delete_entity(request: web.Request) -> web.Response:
    """Forget all that is remembered of one, by its name."""
    return await _forgotten(request, _name(request))


async def delete_entity_by_number(request: web.Request) -> web.Response:
    """The same for clients that name it by its number; a name that is no number is a name."""
    given, reach = _name(request), within(request)
    if not (given.isascii() and given.isdigit()):
        return await _forgotten(request, given)
    for one in await request.app[STORE].entities(reach):
        if one.kind == _kind(request) and str(entity_number(one)) == given:
            return await _forgotten(request, one.name)
    raise NotFound("There is no such entity.")


async def _forgotten(request: web.Request, name: str) -> web.Response:
    wanted = asked(request[CALLER], {f"{_kind(request)}_id": {"in": [name]}})
    request[CALLER] = wanted.caller
    forgotten = await request.app[STORE].forget_all(wanted.reach, by(request), confirmed=None, where=wanted.where)
    noted(request, wanted.reach, forgotten)
    return answer({"message": "Entity deleted successfully!", "deleted": forgotten})


def _name(request: web.Request) -> str:
    """The whole rest of the path: old clients send a name with slashes as it is, and all end it with one more."""
    return request.match_info["name"].removesuffix("/")


def _kind(request: web.Request) -> Kind:
    kind = request.match_info["kind"]
    if kind not in KINDS:
        raise BadValue("Invalid entity type")
    return kind
