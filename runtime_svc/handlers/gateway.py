"""The gateway dialect (contract 003), under `/api/v1/llm/gateway`: the native use cases in its words."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from aiohttp import web
from pydantic import Field

from runtime_svc import finding
from runtime_svc.handlers.turns import reader, turn
from runtime_svc.keys import EMBEDDER
from runtime_svc.recalling import Query
from shared import remembered
from shared.errors import BadValue
from shared.http import body
from shared.http.answers import answer
from shared.http.keys import CALLER, STORE, reached
from shared.records import By, Door, Memory
from shared.scope import Reach, Scope, application_of
from shared.times import moment
from shared.tokens import by_of, reach_of, scope_of

_PREFIX = "mem_"


class InApplication(body.Body):
    """Which application: a bound key's own when it is left out, all of the person's for any other credential."""

    app_id: str | None = None


class Search(InApplication):
    """What is looked for."""

    query: str
    limit: int = Field(default=10, ge=1, le=100)
    threshold: float | None = Field(default=None, ge=0, le=1)


class Listing(InApplication):
    """Which page."""

    page: int = Field(default=1, ge=1, le=1_000_000)
    page_size: int = Field(default=50, ge=1, le=100)


class One(InApplication):
    """Which memory."""

    memory_id: str


class Correction(One):
    """Which memory, and its new words."""

    memory: str


def gateway_id(memory_id: str) -> str:
    """Our id as this dialect shows it: `mem_` and 32 hexadecimal digits, one to one."""
    return _PREFIX + memory_id.replace("-", "")


def our_id(given: str) -> str:
    """The id behind one of this dialect; what cannot be one is passed on, and is not found."""
    digits = given.removeprefix(_PREFIX)
    try:
        return str(UUID(digits)) if given.startswith(_PREFIX) and len(digits) == 32 else ""
    except ValueError:
        return ""


def whole_seconds(text: str | None) -> str | None:
    """A stored time as this dialect shows it: UTC, `2025-02-15T10:00:00Z`; None where another client wrote none."""
    try:
        return None if text is None else f"{moment(text):%Y-%m-%dT%H:%M:%SZ}"
    except BadValue:
        return None


def shown(memory: Memory) -> dict[str, Any]:
    """A memory with the contract's members, and the application it is of."""
    return {
        "id": gateway_id(memory.id),
        "memory": memory.words,
        "app_id": memory.application.removeprefix("app:"),
        "created_at": whole_seconds(memory.created_at),
        "updated_at": whole_seconds(memory.updated_at),
    }


def reach(request: web.Request, said: InApplication) -> Reach:
    """The application named, a bound key's own, or all of the person's."""
    if said.app_id is None:
        return reach_of(request[CALLER])
    return scope_of(request[CALLER], application_of(said.app_id))


def by(request: web.Request) -> By:
    """Who is recorded."""
    return by_of(request[CALLER], Door.GATEWAY)


def noted(request: web.Request, where: Reach, memories: int) -> None:
    """Say what was reached, for the access record."""
    reached(request, memories, where.application if isinstance(where, Scope) else None)


async def search(request: web.Request) -> web.Response:
    """The best for a query, with their scores; in one application also what the person allows it to read."""
    said = await body.read(request, Search)
    where, query = reach(request, said), Query(said.query, said.limit, said.threshold)
    found = await finding.find_within(reader(request), turn(request), where, query)
    memories = [{**shown(hit.ranked.memory), "score": round(hit.ranked.score, 6)} for hit in found.hits]
    noted(request, where, len(memories))
    return answer({"memories": memories} | ({} if found.unread is None else {"unread": found.unread}))


async def list_memories(request: web.Request) -> web.Response:
    """A page, newest first."""
    said = await body.read(request, Listing)
    where, offset = reach(request, said), (said.page - 1) * said.page_size
    page = await request.app[STORE].page(where, limit=said.page_size, offset=offset)
    noted(request, where, len(page.memories))
    return answer(
        {
            "memories": [shown(memory) for memory in page.memories],
            "page": said.page,
            "page_size": said.page_size,
            "total": page.total,
            "has_more": page.next is not None,
        }
    )


async def get_memory(request: web.Request) -> web.Response:
    """One by id; its members also at the top level."""
    said = await body.read(request, One)
    where = reach(request, said)
    found = shown(await remembered.one(request.app[STORE], where, our_id(said.memory_id)))
    noted(request, where, 1)
    return answer({"memory": found, **{k: v for k, v in found.items() if k != "memory"}})


async def update_memory(request: web.Request) -> web.Response:
    """New words for one, embedded again: the changed memory."""
    said = await body.read(request, Correction)
    where = reach(request, said)
    after = await remembered.correct(
        request.app[STORE],
        where,
        our_id(said.memory_id),
        said.memory,
        by(request),
        embedder=request.app[EMBEDDER],
    )
    noted(request, where, 1)
    return answer(shown(after))


async def delete_memory(request: web.Request) -> web.Response:
    """Forget one, with everything derived from it."""
    said = await body.read(request, One)
    where = reach(request, said)
    deleted = await remembered.forget(request.app[STORE], where, our_id(said.memory_id), by(request))
    noted(request, where, deleted)
    return answer({"message": "Memory deleted.", **deleted.shown("deleted")})


async def delete_all_memories(request: web.Request) -> web.Response:
    """Forget all within reach; the receipt is read at `/api/v1/apps/memory-receipts`."""
    said = await body.read(request, InApplication)
    where = reach(request, said)
    deleted = await request.app[STORE].forget_all(where, by(request), confirmed=None)
    noted(request, where, deleted)
    return answer({"message": "All memories deleted.", **deleted.shown("deleted")})
