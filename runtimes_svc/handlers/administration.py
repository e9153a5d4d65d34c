"""What a platform administrator reads of others: another person named by `user_id`, any memory by id, and numbers."""

from __future__ import annotations

from aiohttp import web

from runtimes_svc import administering
from runtimes_svc.administering import administrator
from runtimes_svc.handlers.envelope import envelope, shown_here, shown_page, slice_of
from runtimes_svc.keys import ADMINISTRATION
from shared.http import body
from shared.http.answers import answer
from shared.http.keys import ACCESS, CALLER
from shared.scope import Everything, Reach, Scope, application_key, person_uid
from shared.tokens import person_of


def names_another(request: web.Request) -> bool:
    """Whether the request asks for another person's memories by `user_id`. Raises BadValue for an unusable one."""
    asked = body.text(request, "user_id")
    return asked is not None and person_uid(asked) != person_of(request[CALLER])


async def list_memories(request: web.Request) -> web.Response:
    """The memories of the person named, newest first."""
    admin = administrator(request[CALLER])
    person = person_uid(body.text(request, "user_id"))
    application = body.text(request, "agent_id")
    reach: Reach = Everything(person) if application is None else Scope(person, application_key(application))
    limit, offset = slice_of(request)
    page = await administering.page(
        request.app[ADMINISTRATION], request.app[ACCESS], admin, reach, limit=limit, offset=offset
    )
    return answer(shown_page(page, person, limit=limit, offset=offset))


async def get_memory(request: web.Request) -> web.Response:
    """A memory by id, whoever's it is."""
    admin = administrator(request[CALLER])
    found = await administering.one(
        request.app[ADMINISTRATION], request.app[ACCESS], admin, request.match_info["memory_id"]
    )
    return answer(envelope("What is remembered.", memory=shown_here(found)))


async def stats(request: web.Request) -> web.Response:
    """How much is remembered in all."""
    found = await administering.stats(request.app[ADMINISTRATION], request.app[ACCESS], administrator(request[CALLER]))
    numbers = {
        "collection": found.collection,
        "total": found.total,
        "distinct_users": found.persons,
        "distinct_agents": found.applications,
    }
    return answer(envelope("How much is remembered.", stats=numbers))
