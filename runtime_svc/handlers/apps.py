"""The native routes, under `/api/v1/apps`: what one application remembers of the person calling."""

from __future__ import annotations

from typing import Any

from aiohttp import web
from pydantic import Field

from runtime_svc import finding
from runtime_svc.finding import Found, Hit
from runtime_svc.handlers.turns import reader, turn
from runtime_svc.keys import EMBEDDER
from runtime_svc.recalling import Query
from shared import remembered
from shared.errors import BadValue
from shared.http import body
from shared.http.answers import answer
from shared.http.keys import CALLER, STORE, reached
from shared.records import By, Door
from shared.scope import Scope, application_of
from shared.tokens import by_of, scope_of
from shared.views import shown, shown_revision


class Words(body.Body):
    """A correction."""

    memory: str


class Search(body.Body):
    """What is looked for."""

    query: str
    limit: int = Field(default=10, ge=1, le=100)
    threshold: float | None = Field(default=None, ge=0, le=1)
    rerank: bool = False
    explain: bool = False
    """Whether each memory tells the parts of its score."""


class Recall(Search):
    """What is looked for, and how the block for the LLM is made."""

    inject_memory_timestamps: bool = True
    max_tokens: int | None = Field(default=None, ge=1, le=1_000_000)


def scope(request: web.Request) -> Scope:
    """The person calling and the application in the path."""
    return scope_of(request[CALLER], application_of(request.match_info["app"]))


def by(request: web.Request) -> By:
    """Who is recorded."""
    return by_of(request[CALLER], Door.APPS)


def noted(request: web.Request, memories: int) -> None:
    """Say what was reached, for the access record."""
    reached(request, memories, application_of(request.match_info["app"]))


async def list_memories(request: web.Request) -> web.Response:
    """What the application remembers, newest first."""
    body.refuse_foreign_paging(request)
    page = await request.app[STORE].page(
        scope(request),
        limit=body.integer(request, "limit", default=500, least=1, most=1000) or 500,
        offset=body.integer(request, "offset", default=0) or 0,
        after=body.text(request, "cursor"),
        show_expired=body.flag(request, "show_expired"),
    )
    app, memories = request.match_info["app"], [shown(memory) for memory in page.memories]
    noted(request, len(memories))
    return answer({"app": app, "count": len(memories), "total": page.total, "next": page.next, "memories": memories})


async def get_memory(request: web.Request) -> web.Response:
    """One by id, also an expired one, which says so."""
    found = await remembered.one(request.app[STORE], scope(request), request.match_info["memory_id"])
    noted(request, 1)
    return answer({"app": request.match_info["app"], "memory": shown(found)})


async def correct(request: web.Request) -> web.Response:
    """New words for one, embedded again."""
    said = await body.read(request, Words)
    after = await remembered.correct(
        request.app[STORE],
        scope(request),
        request.match_info["memory_id"],
        said.memory,
        by(request),
        embedder=request.app[EMBEDDER],
    )
    noted(request, 1)
    return answer({"corrected": 1, "memory": shown(after)})


async def forget(request: web.Request) -> web.Response:
    """One, with everything derived from it."""
    forgotten = await remembered.forget(
        request.app[STORE], scope(request), request.match_info["memory_id"], by(request)
    )
    noted(request, forgotten)
    return answer(forgotten.shown())


async def forget_all(request: web.Request) -> web.Response:
    """All, no more than the count that the person confirmed."""
    count = body.integer(request, "count", default=None)
    if count is None:
        raise BadValue("count is required: how many you were shown and confirm.")
    forgotten = await request.app[STORE].forget_all(scope(request), by(request), confirmed=count)
    noted(request, forgotten)
    return answer(forgotten.shown())


async def history(request: web.Request) -> web.Response:
    """What became of one memory."""
    revisions = await remembered.history(request.app[STORE], scope(request), request.match_info["memory_id"])
    noted(request, 1)
    return answer({"app": request.match_info["app"], "history": [shown_revision(one) for one in revisions]})


async def search(request: web.Request) -> web.Response:
    """The best for a query, each with its score; `unread` says why a turn reads nothing."""
    said = await body.read(request, Search)
    found = await _find(request, said)
    memories = [shown_hit(hit, explain=said.explain) for hit in found.hits]
    view = {"app": request.match_info["app"], "count": len(memories), "memories": memories}
    return answer(view if found.unread is None else {**view, "unread": found.unread})


async def recall(request: web.Request) -> web.Response:
    """The best for a query, and a block of them for an LLM; `unread` says why a turn reads nothing."""
    said = await body.read(request, Recall)
    found = await _find(request, said)
    context = finding.context(found, timestamps=said.inject_memory_timestamps, max_tokens=said.max_tokens)
    memories = [shown_hit(hit, explain=said.explain) for hit in found.hits]
    view = {"app": request.match_info["app"], "context": context, "memories": memories}
    return answer(view if found.unread is None else {**view, "unread": found.unread})


async def _find(request: web.Request, said: Search) -> Found:
    query = Query(said.query, said.limit, said.threshold, rerank=said.rerank)
    found = await finding.find(reader(request), turn(request), scope(request).application, query)
    noted(request, len(found.hits))
    return found


def shown_hit(hit: Hit, *, explain: bool = False) -> dict[str, Any]:
    """A memory that was found; one of another application is marked, also in its metadata."""
    view = {**shown(hit.ranked.memory), "score": round(hit.ranked.score, 6)}
    if explain:
        view["explain"] = {part: round(value, 6) for part, value in hit.ranked.parts.items()}
    if hit.remembered_by is None:
        return view
    marked = {**view.get("metadata", {}), "remembered_by": hit.remembered_by}
    return {**view, "remembered_by": hit.remembered_by, "metadata": marked}
