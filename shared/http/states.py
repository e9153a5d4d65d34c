"""A person's whole memory, under `/api/memory` (contract 002); mounted by each service that has a store of states."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from shared.access import Access
from shared.errors import WrongMediaType
from shared.http import body
from shared.http.accesses import record
from shared.http.answers import answer
from shared.http.keys import ACCESS, CALLER
from shared.http.streaming import each, stream
from shared.records import By, Door
from shared.scope import Everything
from shared.snapshots import saving
from shared.snapshots.document import saved
from shared.snapshots.units import shown_time
from shared.snapshots.whose import whose
from shared.stores.states import Restored, State, StateStore
from shared.times import now
from shared.tokens import by_of, person_of

STATES: web.AppKey[StateStore] = web.AppKey("states", StateStore)

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


def shown_restored(done: Restored) -> dict[str, int]:
    """What a restore did."""
    return {
        "memories": done.memories,
        "cameBack": done.came_back,
        "leftOut": done.left_out,
        "replaced": done.replaced,
        "notEmbedded": done.not_embedded,
    }


async def note(request: web.Request, memories: int) -> None:
    """Record that memories were reached in another's name, now: an answer that is streamed cannot be held back.

    That of a person named by `userId` is noted in that person's record.
    """
    whom, verb = person(request), getattr(request.match_info.handler, "__name__", "request")
    await record(request, verb, memories, None)
    if whom.person != person_of(request[CALLER]):
        access = Access(by(request).actor, verb, Door.STATE, None, memories, now())
        await request.app[ACCESS].note(whom, access)


async def current(request: web.Request) -> web.StreamResponse:
    """What is remembered now."""
    looked = await saving.current(request.app[STATES], person(request))
    await note(request, looked.memories)
    return await stream(request, each(looked.pieces))


async def save(request: web.Request) -> web.StreamResponse:
    """Keep what is remembered now, and answer it."""
    whom = person(request)
    state = await saving.save(request.app[STATES], whom)
    await note(request, saving.memories_in(state))
    return await stream(request, saved(request.app[STATES], whom, state, shown_to=whom))


async def list_states(request: web.Request) -> web.Response:
    """The snapshots there are, newest first."""
    body.refuse_foreign_paging(request)
    limit = body.integer(request, "limit", default=100, least=1, most=1000) or 100
    offset = body.integer(request, "offset", default=0) or 0
    found = await request.app[STATES].states(person(request))
    await note(request, 0)
    shown = [shown_state(state) for state in found[offset : offset + limit]]
    return answer({"count": len(shown), "total": len(found), "states": shown})


async def take_in(request: web.Request) -> web.Response:
    """Keep an exported document as a snapshot."""
    whom = person(request)
    if request.headers.get("Content-Type") and not request.content_type.endswith("json"):
        raise WrongMediaType("The body is to be application/json.")
    source = request.content.iter_chunked(_PIECE)
    taken = await saving.take_in(request.app[STATES], whom, source)
    await note(request, saving.memories_in(taken.state))
    return answer({**shown_state(taken.state), "graphLeftOut": taken.graph_left_out})


async def get_state(request: web.Request) -> web.StreamResponse:
    """One snapshot; with `export=true` as a document that can be taken in again, exactly."""
    whole, whom = body.flag(request, "export"), person(request)
    state = await saving.one(request.app[STATES], whom, request.match_info["state_id"])
    await note(request, saving.memories_in(state))
    headers = {"Content-Disposition": f'attachment; filename="memory-{state.id}.json"'} if whole else {}
    return await stream(request, saved(request.app[STATES], whom, state, shown_to=whom, whole=whole), **headers)


async def restore(request: web.Request) -> web.StreamResponse:
    """Replace what is remembered by a snapshot, and answer that."""
    states, whom = request.app[STATES], person(request)
    owner, state, done = await saving.restore(
        states,
        whom,
        Everything(person_of(request[CALLER])),
        request.match_info["state_id"],
        by(request),
        respect_forgotten=body.flag(request, "respect_forgotten"),
    )
    await note(request, done.memories)
    return await stream(request, saved(states, owner, state, shown_to=whom, restored=shown_restored(done)))


async def drop(request: web.Request) -> web.Response:
    """Forget a snapshot."""
    await saving.drop(request.app[STATES], person(request), request.match_info["state_id"])
    await note(request, 0)
    return answer({"forgotten": 1})


async def erase(request: web.Request) -> web.Response:
    """Forget everything, in every application."""
    allowances, snapshots = body.flag(request, "allowances"), body.flag(request, "snapshots")
    erased = await request.app[STATES].erase(person(request), by(request), allowances=allowances, snapshots=snapshots)
    await note(request, erased.memories)
    return answer(
        {
            "forgotten": erased.memories,
            "data": erased.data,
            "allowances": erased.allowances,
            "snapshots": erased.snapshots,
            "held_by_snapshots": erased.held_by_snapshots,
        }
    )
