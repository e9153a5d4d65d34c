"""The Mem0 dialect's batches: up to a thousand memories changed or forgotten by one request."""

from __future__ import annotations

from typing import Any

from aiohttp import web
from pydantic import Field, ValidationError

from runtime_svc.handlers.mem0_memories import Revision, by, change_of, memory_id, noted, within
from runtime_svc.keys import EMBEDDER
from runtime_svc.mem0_dialect.revising import revise
from shared.errors import BadValue, NotAllowed, NotFound
from shared.http import body
from shared.http.answers import answer
from shared.http.keys import STORE

_MOST = 1000


class Batch(body.Body):
    """Which memories; deleting takes ids alone, too."""

    memories: list[dict[str, Any] | str] = Field(default_factory=list)


class Revised(Revision):
    """One of them, and what is to be different."""

    memory_id: str


async def update(request: web.Request) -> web.Response:
    """Each is changed on its own; those that are unknown or immutable are left, and said."""
    items = [_revised(one) for one in await _batch(request, "updated")]
    changes = [(memory_id(one.memory_id), change_of(one)) for one in items]
    reach, updated, left = within(request), 0, []
    for wanted, change in changes:
        try:
            await revise(request.app[STORE], request.app[EMBEDDER], reach, wanted, change, by=by(request))
            updated += 1
        except (NotFound, NotAllowed) as error:
            left.append({"memory_id": wanted, "error": error.sentence})
    noted(request, reach, updated)
    return answer({"message": f"Successfully updated {updated} memories", "failed": left})


async def delete(request: web.Request) -> web.Response:
    """Each is forgotten on its own; those that are unknown are left, and said."""
    ids = [memory_id(_id(one)) for one in await _batch(request, "deleted")]
    reach, deleted, left = within(request), 0, []
    for wanted in dict.fromkeys(ids):
        if await request.app[STORE].forget(reach, wanted, by(request)):
            deleted += 1
        else:
            left.append({"memory_id": wanted, "error": "Nothing is remembered by that id."})
    noted(request, reach, deleted)
    return answer({"message": f"Successfully deleted {deleted} memories", "failed": left})


async def _batch(request: web.Request, what: str) -> list[dict[str, Any] | str]:
    said = await body.read(request, Batch)
    if not said.memories:
        raise BadValue("memories has at least one memory.")
    if len(said.memories) > _MOST:
        raise BadValue(f"Maximum of {_MOST} memories can be {what} at once.")
    return said.memories


def _revised(one: dict[str, Any] | str) -> Revised:
    try:
        return Revised.model_validate(one)
    except ValidationError as error:
        raise body.bad_value(error) from None


def _id(one: dict[str, Any] | str) -> str:
    given = one.get("memory_id") if isinstance(one, dict) else one
    if not isinstance(given, str):
        raise BadValue("Each of memories has a memory_id.")
    return given
