"""A person's whole memory, under `/api/memory` (contract 002); mounted by each service that has a store of states."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from aiohttp import web

from shared.errors import WrongMediaType
from shared.http import body
from shared.http.answers import answer
from shared.http.keys import CALLER
from shared.http.streaming import each, stream
from shared.records import By, Door
from shared.scope import Everything
from shared.snapshots import keeping
from shared.snapshots.document import saved
from shared.snapshots.keeping import Keeping
from shared.snapshots.units import shown_time
from shared.snapshots.whose import whose
from shared.stores.states import State
from shared.tokens import by_of, person_of

KEEPING: web.AppKey[Keeping] = web.AppKey("keeping", Keeping)

_PIECE = 64 * 1024


def routes() -> list[web.RouteDef]:
    """The routes of a person's whole memory, as a table."""
    return [
        web.delete("/api/memory", erase),
        web.get("/api/memory/state", current),
        web.post("/api/memory/state", save),
        web.get("/api/memory/states", list_states),
        web.post("/api/memory/states", take_in),
        web.get("/api/memory/state/{state_id}", get_state),
        web.post("/api/memory/state/{state_id}", restore),
        web.delete("/api/memory/state/{state_id}", drop),
    ]


def person(request: web.Request) -> Everything:
    """The caller, or the person of `userId` for those who may."""
    return whose(request[CALLER], body.text(request, "userId"))


def by(request: web.Request) -> By:
    """Who is recorded."""
    return by_of(request[CALLER], Door.STATE)


def shown_state(state: State) -> dict[str, Any]:
    """A snapshot without its content."""
    return {"id": state.id, "created": shown_time(state.created), "counts": state.counts, "size": state.size}


def _shown(
    request: web.Request, owner: Everything, state: State, *, whole: bool = False, **more: Any
) -> AsyncIterator[bytes]:
    states = request.app[KEEPING].states
    return saved(states, owner, state, shown_to=person(request), whole=whole, more=more)


async def current(request: web.Request) -> web.StreamResponse:
    """What is remembered now."""
    return await stream(request, each(await keeping.current(request.app[KEEPING], person(request), by(request))))


async def save(request: web.Request) -> web.StreamResponse:
    """Keep what is remembered now, and answer it."""
    state = await keeping.save(request.app[KEEPING], person(request), by(request))
    return await stream(request, _shown(request, person(request), state))


async def list_states(request: web.Request) -> web.Response:
    """The snapshots there are, newest first."""
    found = await keeping.all_of(request.app[KEEPING], person(request), by(request))
    return answer({"count": len(found), "states": [shown_state(state) for state in found]})


async def take_in(request: web.Request) -> web.Response:
    """Keep an exported document as a snapshot."""
    if request.headers.get("Content-Type") and not request.content_type.endswith("json"):
        raise WrongMediaType("The body is to be application/json.")
    source = request.content.iter_chunked(_PIECE)
    taken = await keeping.take_in(request.app[KEEPING], person(request), by(request), source)
    return answer({**shown_state(taken.state), "graphLeftOut": taken.graph_left_out})


async def get_state(request: web.Request) -> web.StreamResponse:
    """One snapshot; with `export=true` as a document that can be taken in again, exactly."""
    whole = body.flag(request, "export")
    state = await keeping.one(request.app[KEEPING], person(request), request.match_info["state_id"], by(request))
    headers = {"Content-Disposition": f'attachment; filename="memory-{state.id}.json"'} if whole else {}
    return await stream(request, _shown(request, person(request), state, whole=whole), **headers)


async def restore(request: web.Request) -> web.StreamResponse:
    """Replace what is remembered by a snapshot, and answer that."""
    owner, state, done = await keeping.restore(
        request.app[KEEPING],
        person(request),
        Everything(person_of(request[CALLER])),
        request.match_info["state_id"],
        by(request),
        respect_forgotten=body.flag(request, "respect_forgotten"),
    )
    told = {
        "memories": done.memories,
        "cameBack": done.came_back,
        "leftOut": done.left_out,
        "replaced": done.replaced,
        "notEmbedded": done.not_embedded,
    }
    return await stream(request, _shown(request, owner, state, restored=told))


async def drop(request: web.Request) -> web.Response:
    """Forget a snapshot."""
    await keeping.drop(request.app[KEEPING], person(request), request.match_info["state_id"], by(request))
    return answer({"forgotten": 1})


async def erase(request: web.Request) -> web.Response:
    """Forget everything, in every application."""
    erased = await keeping.erase(
        request.app[KEEPING],
        person(request),
        by(request),
        allowances=body.flag(request, "allowances"),
        snapshots=body.flag(request, "snapshots"),
    )
    return answer(
        {
            "forgotten": erased.memories,
            "data": erased.data,
            "allowances": erased.allowances,
            "snapshots": erased.snapshots,
            "held_by_snapshots": erased.held_by_snapshots,
        }
    )
