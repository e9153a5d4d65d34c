"""The Mem0 dialect's batches: up to a thousand memories changed or forgotten by one request."""

from __future__ import annotations

from typing import Any

from aiohttp import web
from pydantic import Field, ValidationError

from runtime_svc.handlers.mem0_memories import Revision, by, change_of, memory_id, noted, within
from runtime_svc.keys import EMBEDDER
from runtime_svc.mem0_dialect.batches import MOST, Done, forget_each, revise_each
from shared.errors import BadValue
from shared.http import body
from shared.http.answers import answer
from shared.http.keys import STORE


class Batch(body.Body):
    """Which memories; deleting takes ids alone, too."""

    memories: list[dict[str, Any] | str] = Field(default_factory=list)


class Revised(Revision):
    """One of them, and what is to be different."""

    memory_id: str


async def update(request: web.Request) -> web.Response:
    """Change each on its own."""
    items = [_revised(one) for one in await _batch(request, "updated")]
    changes = [(memory_id(one.memory_id), change_of(one)) for one in items]
    reach = within(request)
    done = await revise_each(request.app[STORE], request.app[EMBEDDER], reach, changes, by=by(request))
    noted(request, reach, done.count)
    return answer(_told(done, "updated"))


async def delete(request: web.Request) -> web.Response:
    """Forget each on its own."""
    ids = [memory_id(_id(one)) for one in await _batch(request, "deleted")]
    reach = within(request)
    done = await forget_each(request.app[STORE], reach, ids, by=by(request))
    noted(request, reach, done.count)
    return answer(_told(done, "deleted"))


def _told(done: Done, what: str) -> dict[str, Any]:
    failed = [{"memory_id": one, "error": why} for one, why in done.left.items()]
    return {"message": f"Successfully {what} {done.count} memories", "failed": failed}


async def _batch(request: web.Request, what: str) -> list[dict[str, Any] | str]:
    said = await body.read(request, Batch)
    if not said.memories:
        raise BadValue("memories has at least one memory.")
    if len(said.memories) > MOST:
        raise BadValue(f"Maximum of {MOST} memories can be {what} at once.")
    return said.memories


def _revised(one: dict[str, Any] | str) -> Revised:
    if not isinstance(one, dict):
        raise BadValue("Each of memories is an object with a memory_id.")
    try:
        return Revised.model_validate(one)
    except ValidationError as error:
        raise body.bad_value(error) from None


def _id(one: dict[str, Any] | str) -> str:
    given = one.get("memory_id") if isinstance(one, dict) else one
    if not isinstance(given, str):
        raise BadValue("Each of memories has a memory_id.")
    return given
