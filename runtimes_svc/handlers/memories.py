"""What is remembered of the person calling, under `/api/runtimes/v1/memories`; no embedder is needed."""

from __future__ import annotations

from aiohttp import web

from runtimes_svc import finding
from runtimes_svc.administering import is_administrator
from runtimes_svc.handlers import administration
from runtimes_svc.handlers.envelope import envelope, shown_found, shown_here, shown_page, slice_of
from shared import remembered
from shared.errors import BadValue, NotAllowed, NotFound
from shared.http import body
from shared.http.answers import answer
from shared.http.keys import CALLER, STORE, reached
from shared.records import By, Door
from shared.scope import Reach, Scope, application_key, person_uid
from shared.tokens import by_of, person_of, reach_of, scope_of
from shared.views import shown_revision


class Words(body.Body):
    """A correction."""

    memory: str


def reach(request: web.Request) -> Reach:
    """All of the caller's, or one application's when `agent_id` says so. Somebody else's `user_id` is refused."""
    caller = request[CALLER]
    asked = body.text(request, "user_id")
    if asked is not None and person_uid(asked) != person_of(caller):
        raise NotAllowed("What is remembered of another person is not yours to read.")
    application = body.text(request, "agent_id")
    return reach_of(caller) if application is None else scope_of(caller, application_key(application))


def by(request: web.Request) -> By:
    """Who is recorded."""
    return by_of(request[CALLER], Door.PLATFORM)


def noted(request: web.Request, memories: int) -> None:
    """Say what was reached, for the access record."""
    reached(request, memories, body.text(request, "agent_id"))


async def list_memories(request: web.Request) -> web.Response:
    """The caller's memories, newest first; another person's for an administrator who names them."""
    body.refuse_foreign_paging(request)
    sought = body.text(request, "q") is not None
    if administration.names_another(request):
        if sought:
            raise BadValue("q finds your own memories: it is not taken with another person's user_id.")
        return await administration.list_memories(request)
    if sought:
        return await find(request)
    limit, offset = slice_of(request)
    page = await request.app[STORE].page(
        reach(request),
        limit=limit,
        offset=offset,
        after=body.text(request, "cursor"),
        show_expired=body.flag(request, "show_expired"),
    )
    noted(request, len(page.memories))
    return answer(shown_page(page, person_of(request[CALLER]), limit=limit, offset=offset))


async def find(request: web.Request) -> web.Response:
    """The caller's memories with the words of `q`, best first."""
    limit, offset = slice_of(request)
    found = await finding.find_by_words(
        request.app[STORE],
        reach(request),
        body.text(request, "q") or "",
        limit=limit,
        offset=offset,
        show_expired=body.flag(request, "show_expired"),
    )
    noted(request, len(found.ranked))
    return answer(shown_found(found, person_of(request[CALLER]), limit=limit, offset=offset))


async def get_memory(request: web.Request) -> web.Response:
    """One by id."""
    try:
        found = await remembered.one(request.app[STORE], reach(request), request.match_info["memory_id"])
    except NotFound:
        if not is_administrator(request[CALLER]):
            raise
        return await administration.get_memory(request)
    noted(request, 1)
    return answer(envelope("What is remembered of you.", memory=shown_here(found)))


async def correct(request: web.Request) -> web.Response:
    """New words for one; it is found by its old meaning until a runtime learns it again."""
    said = await body.read(request, Words)
    after = await remembered.correct(
        request.app[STORE], reach(request), request.match_info["memory_id"], said.memory, by(request)
    )
    noted(request, 1)
    return answer(envelope("Corrected.", corrected=1, memory=shown_here(after)))


async def forget(request: web.Request) -> web.Response:
    """One, with everything derived from it."""
    forgotten = await remembered.forget(
        request.app[STORE], reach(request), request.match_info["memory_id"], by(request)
    )
    noted(request, forgotten)
    return answer(envelope("Forgotten.", **forgotten.shown()))


async def forget_all(request: web.Request) -> web.Response:
    """All that one application remembers of the caller, no more than the count that was confirmed."""
    asked = reach(request)
    count = body.integer(request, "count", default=None)
    if not isinstance(asked, Scope) or body.text(request, "agent_id") is None:
        raise BadValue("agent_id is required: which application is to forget.")
    if count is None:
        raise BadValue("count is required: how many you were shown and confirm.")
    forgotten = await request.app[STORE].forget_all(asked, by(request), confirmed=count)
    noted(request, forgotten)
    return answer(envelope("Forgotten.", **forgotten.shown()))


async def history(request: web.Request) -> web.Response:
    """What became of one memory."""
    revisions = await remembered.history(request.app[STORE], reach(request), request.match_info["memory_id"])
    noted(request, 1)
    return answer(envelope("What became of it.", history=[shown_revision(one) for one in revisions]))
