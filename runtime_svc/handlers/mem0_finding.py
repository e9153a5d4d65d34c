"""The Mem0 dialect's searches and lists, in each of its versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aiohttp import web
from pydantic import Field

from runtime_svc import recalling
from runtime_svc.handlers.mem0_memories import noted
from runtime_svc.keys import EMBEDDER, RERANKER
from runtime_svc.mem0_dialect.adding import instant
from runtime_svc.mem0_dialect.asking import ENTITIES, Asked, asked, ids_of, json_object, narrowings
from runtime_svc.mem0_dialect.paging import FURTHEST, Paging
from runtime_svc.mem0_dialect.views import shown
from runtime_svc.recalling import Query
from shared.errors import BadValue
from shared.graph import relations
from shared.http import body
from shared.http.answers import answer
from shared.http.keys import CALLER, STORE
from shared.ranking import Ranked

_PAGE = 100
_MOST = 1000
_THRESHOLD = 0.1
"""The least score that versions 2 and 3 show where none is asked for."""


class Narrowed(body.Body):
    """What both a search and a list may say; ids stand at the top level or in filters."""

    filters: dict[str, Any] | None = None
    user_id: str | dict[str, Any] | None = None
    agent_id: str | dict[str, Any] | None = None
    app_id: str | dict[str, Any] | None = None
    run_id: str | dict[str, Any] | None = None
    categories: list[str] | None = Field(default=None, max_length=100)
    metadata: dict[str, Any] | None = None
    start_date: str | None = None
    end_date: str | None = None
    fields: list[str] | None = Field(default=None, max_length=100)
    show_expired: bool | None = None
    output_format: str | None = None
    enable_graph: bool | None = None
    latest_only: bool | None = None
    """Changes nothing: a memory is kept in its latest words only."""


class Searching(Narrowed):
    """What is looked for. Some clients say `limit` for `top_k`."""

    query: str
    top_k: int | None = Field(default=None, ge=1, le=_MOST)
    limit: int | None = Field(default=None, ge=1, le=_MOST)
    threshold: float | None = Field(default=None, ge=0, le=1)
    rerank: bool | None = None
    reference_date: int | float | str | None = None
    keyword_search: bool | None = None
    """Changes nothing: every search is by words as well."""


class Listing(Narrowed):
    """What is listed, and which page."""

    keywords: str | None = None
    page: int | None = Field(default=None, ge=1, le=FURTHEST)
    page_size: int | None = Field(default=None, ge=1, le=_MOST)


@dataclass(frozen=True, slots=True)
class Listed:
    """A page, as it was asked for."""

    results: list[dict[str, Any]]
    total: int
    paging: Paging
    paged: bool
    """Whether a page was asked for at all."""
    relations: list[dict[str, str]] | None
    """What is mentioned together, where `enable_graph` asks for it."""


async def search_v1(request: web.Request) -> web.Response:
    """A list, or an object with `results` where `output_format` asks for it."""
    said = await body.read(request, Searching)
    found = await _found(request, said, threshold=0.0)
    return answer(_with_relations(found, said) if said.output_format == "v1.1" else _results(found, said))


async def search(request: web.Request) -> web.Response:
    """Versions 2 and 3: an object with `results`."""
    said = await body.read(request, Searching)
    return answer(_with_relations(await _found(request, said, threshold=_THRESHOLD), said))


def _results(found: list[Ranked], said: Searching) -> list[dict[str, Any]]:
    return [shown(one.memory, score=one.score, fields=said.fields) for one in found]


def _with_relations(found: list[Ranked], said: Searching) -> dict[str, Any]:
    results = _results(found, said)
    if said.enable_graph:
        return {"results": results, "relations": relations([one.memory for one in found])}
    return {"results": results, "relations": []} if said.output_format == "v1.1" else {"results": results}


async def _found(request: web.Request, said: Searching, *, threshold: float) -> list[Ranked]:
    least = threshold if said.threshold is None else said.threshold
    today = None if said.reference_date is None else instant(said.reference_date, "reference_date").date()
    query = Query(said.query, said.top_k or said.limit or 10, least, rerank=bool(said.rerank), today=today)
    wanted = _asked(request, said)
    vector = await recalling.vector_of(request.app[EMBEDDER], query)
    ranked = await recalling.best(
        request.app[STORE], wanted.reach, query, vector, where=wanted.where, show_expired=bool(said.show_expired)
    )
    ranked = await recalling.reranked(request.app.get(RERANKER), query, ranked)
    noted(request, wanted.reach, len(ranked))
    return ranked


async def list_v1(request: web.Request) -> web.Response:
    """By the query alone: a list, or a page of it where one is asked for."""
    page = await _listed(request, _in_query(request))
    return answer(_listing(page))


async def list_v2(request: web.Request) -> web.Response:
    """By the body: a list, or a page of it where one is asked for."""
    page = await _listed(request, await body.read(request, Listing))
    return answer(_listing(page))


async def list_v3(request: web.Request) -> web.Response:
    """By the body: always a page."""
    page = await _listed(request, await body.read(request, Listing))
    return answer(_envelope(page))


async def _listed(request: web.Request, said: Listing) -> Listed:
    number = body.integer(request, "page", default=said.page, least=1, most=FURTHEST)
    size = body.integer(request, "page_size", default=said.page_size, least=1, most=_MOST)
    paged = number is not None or size is not None
    size = size or (_PAGE if paged or request.path.startswith("/v3/") else _MOST)
    paging, wanted = Paging(request.url, number or 1, size, counted=paged), _asked(request, said)
    page = await request.app[STORE].page(
        wanted.reach, limit=size, offset=paging.offset, where=wanted.where, show_expired=bool(said.show_expired)
    )
    noted(request, wanted.reach, len(page.memories))
    related = relations(page.memories) if said.enable_graph else None
    return Listed([shown(one, fields=said.fields) for one in page.memories], page.total, paging, paged, related)


def _listing(page: Listed) -> list[dict[str, Any]] | dict[str, Any]:
    """A bare list, unless a page or relations were asked for."""
    return _envelope(page) if page.paged or page.relations is not None else page.results


def _envelope(page: Listed) -> dict[str, Any]:
    related = {} if page.relations is None else {"relations": page.relations}
    return {**page.paging.envelope(page.total, page.results), **related}


def _asked(request: web.Request, said: Narrowed) -> Asked:
    beside = said.model_dump(exclude={"filters", "fields"})
    wanted = asked(request[CALLER], said.filters, ids_of(beside), narrowings(beside))
    request[CALLER] = wanted.caller
    return wanted


def _in_query(request: web.Request) -> Listing:
    """The query of a version 1 list. Raises BadValue."""
    named = (*ENTITIES, "start_date", "end_date", "keywords")
    said: dict[str, Any] = {name: body.text(request, name) for name in named}
    for name in ("categories", "fields"):
        given = body.text(request, name)
        said[name] = None if given is None else given.split(",")
    if "filters" in request.query:
        raise BadValue("filters are not read in a query: name the entities, or POST to /v2/memories/.")
    size = body.integer(request, "limit", default=None, least=1, most=_MOST)
    metadata = json_object(body.text(request, "metadata"), "metadata")
    said |= {name: body.flag(request, name) for name in ("show_expired", "enable_graph", "latest_only")}
    return Listing(**said, metadata=metadata, page_size=size)
