"""What became of what was accepted to be learned, under `/api/v1/apps/memory-events`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from aiohttp import web

from runtime_svc.keys import LEARNING
from runtime_svc.learning import words_of
from shared.errors import BadValue, NotFound
from shared.http import body
from shared.http.answers import answer
from shared.http.keys import CALLER
from shared.scope import PREFIX, Reach, application_of
from shared.stores.queue import LearnEvent, Status
from shared.tokens import reach_of, scope_of


async def get_event(request: web.Request) -> web.Response:
    """One, with its results in words: what was forgotten since has none."""
    learning, reach = request.app[LEARNING], reach_of(request[CALLER])
    event = await learning.queue.get(reach, request.match_info["event_id"])
    if event is None:
        raise NotFound("There is no such event.")
    words = await words_of(learning.store, event.scope, event)
    results = [{"id": one.id, "memory": words.get(one.id), "event": one.event} for one in event.results]
    return answer({"event": {**shown_event(event), "results": results}})


async def list_events(request: web.Request) -> web.Response:
    """Those of the person calling, newest first."""
    body.refuse_foreign_paging(request)
    page = await request.app[LEARNING].queue.page(
        _reach(request),
        limit=body.integer(request, "limit", default=50, least=1, most=1000) or 50,
        after=body.text(request, "cursor"),
        status=_status(request),
    )
    events = [shown_event(event) for event in page.events]
    return answer({"count": len(events), "next": page.next, "events": events})


def _reach(request: web.Request) -> Reach:
    app = body.text(request, "app")
    return reach_of(request[CALLER]) if app is None else scope_of(request[CALLER], application_of(app))


def _status(request: web.Request) -> Status | None:
    status = body.text(request, "status")
    if status is not None and status not in {*Status}:
        raise BadValue(f"status is one of {', '.join(Status)}.")
    return None if status is None else Status(status)


def shown_event(event: LearnEvent) -> dict[str, Any]:
    """An event as it is shown; its results by id, for a list."""
    view: dict[str, Any] = {
        "id": event.id,
        "app": event.scope.application.removeprefix(PREFIX),
        "status": event.status,
        "results": [{"id": one.id, "event": one.event} for one in event.results],
        "error": event.error,
        "created_at": _at(event.created_at),
        "started_at": _at(event.started_at),
        "completed_at": _at(event.completed_at),
    }
    return view if event.note is None else {**view, "note": event.note}


def _at(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
