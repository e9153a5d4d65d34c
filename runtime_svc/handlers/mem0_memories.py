"""The Mem0 dialect on memories: add, one by id, change, forget, history."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from aiohttp import web

from runtime_svc import learning
from runtime_svc.handlers.learning import idempotency_key
from runtime_svc.keys import APPSPECS, EMBEDDER, LEARNING
from runtime_svc.learning import Learned
from runtime_svc.mem0_dialect import adding
from runtime_svc.mem0_dialect.adding import Adding
from runtime_svc.mem0_dialect.asking import ENTITIES, acting, added_to, asked, ids_of, json_object, keeping
from runtime_svc.mem0_dialect.projects import settings_of
from runtime_svc.mem0_dialect.revising import Change, revise
from runtime_svc.mem0_dialect.views import shown, shown_revision
from shared import remembered
from shared.errors import BadValue
from shared.http import body
from shared.http.answers import answer
from shared.http.keys import CALLER, CLIENT_RECORDS, STORE, reached
from shared.records import By, Door
from shared.scope import Reach, Scope
from shared.times import expiration, stamp
from shared.tokens import by_of, reach_of


class Revision(body.Body):
    """What is to be different; the new words under any name that clients use. A null `expiration_date` clears it."""

    text: str | None = None
    data: str | None = None
    memory: str | None = None
    metadata: dict[str, Any] | None = None
    timestamp: int | float | str | None = None
    expiration_date: str | None = None


def by(request: web.Request) -> By:
    """Who is recorded."""
    return by_of(request[CALLER], Door.MEM0)


def within(request: web.Request) -> Reach:
    """How far a request about one memory reaches; a `user_id` in the query says for whom it acts. Raises NotAllowed."""
    user = body.text(request, "user_id")
    request[CALLER] = acting(request[CALLER], () if user is None else (user,))
    return reach_of(request[CALLER])


def noted(request: web.Request, reach: Reach, memories: int) -> None:
    """Say what was reached, for the access record."""
    reached(request, memories, reach.application if isinstance(reach, Scope) else None)


def memory_id(given: str) -> str:
    """A memory's id, in its one form of 36 characters. Raises BadValue for what cannot be one."""
    try:
        return str(UUID(given if len(given) == 36 else ""))
    except ValueError:
        raise BadValue("memory_id should be a valid UUID") from None


async def add(request: web.Request) -> web.Response:
    """Version 1: a list, or an object with `results` where `output_format` asks for it."""
    said, learned = await _learn(request)
    found = adding.items(learned, said)
    return answer({"results": found, "relations": []} if said.output_format == "v1.1" else found)


async def add_v3(request: web.Request) -> web.Response:
    """Version 3: an object about the whole add."""
    said, learned = await _learn(request)
    return answer(adding.envelope(learned, said))


async def _learn(request: web.Request) -> tuple[Adding, Learned]:
    said, key = await body.read(request, Adding), idempotency_key(request)
    ids = added_to(said.model_dump(), said.filters)
    request[CALLER], scope = keeping(request[CALLER], ids)
    request.app[APPSPECS].check_remembers(scope.application)
    project = await settings_of(request.app[CLIENT_RECORDS], request[CALLER])
    lesson = adding.lesson(said, ids, project)
    learned = await learning.learn(
        request.app[LEARNING], scope, lesson, by(request), wait=said.waits, idempotency_key=key
    )
    noted(request, scope, len(learned.outcomes or ()))
    return said, learned


async def get(request: web.Request) -> web.Response:
    """One, expired or not."""
    reach, wanted = within(request), memory_id(request.match_info["memory_id"])
    found = await remembered.one(request.app[STORE], reach, wanted)
    noted(request, reach, 1)
    return answer(shown(found))


async def update(request: web.Request) -> web.Response:
    """New words, metadata, expiry or time for one."""
    said = await body.read(request, Revision)
    reach, wanted = within(request), memory_id(request.match_info["memory_id"])
    change = change_of(said)
    if change == Change():
        raise BadValue("An update says text, metadata, timestamp or expiration_date.")
    after = await revise(request.app[STORE], request.app[EMBEDDER], reach, wanted, change, by=by(request))
    noted(request, reach, 1)
    return answer(shown(after))


def change_of(said: Revision) -> Change:
    """What an update says. Raises BadValue."""
    ours: dict[str, Any] = {}
    if "expiration_date" in said.model_fields_set:
        ours["expiration_date"] = None if said.expiration_date is None else expiration(said.expiration_date)
    if said.timestamp is not None:
        ours["created_at"] = stamp(adding.instant(said.timestamp, "timestamp"))
    words = next((one for one in (said.text, said.data, said.memory) if one is not None), None)
    return Change(words, said.metadata or {}, ours)


async def delete(request: web.Request) -> web.Response:
    """Forget one, with everything derived from it."""
    reach, wanted = within(request), memory_id(request.match_info["memory_id"])
    # A memory supersedes none here: a correction is made in place, and a learn only adds.
    linked = {"cascade_count": 0} if body.flag(request, "delete_linked") else {}
    forgotten = await remembered.forget(request.app[STORE], reach, wanted, by(request))
    noted(request, reach, forgotten)
    return answer({"message": "Memory deleted successfully!", **linked})


async def delete_all(request: web.Request) -> web.Response:
    """Forget all of the entities named; without one, nothing."""
    if "filters" in request.query:
        raise BadValue("filters are not read here: name user_id, agent_id, app_id or run_id.")
    ids = ids_of({name: body.text(request, name) for name in ENTITIES})
    metadata = json_object(body.text(request, "metadata"), "metadata")
    wanted = asked(request[CALLER], ids, None if metadata is None else {"metadata": metadata})
    request[CALLER] = wanted.caller
    forgotten = await request.app[STORE].forget_all(wanted.reach, by(request), confirmed=None, where=wanted.where)
    noted(request, wanted.reach, forgotten)
    return answer({"message": "Memories deleted successfully!", **forgotten.shown("deleted")})


async def history(request: web.Request) -> web.Response:
    """What became of one, oldest first."""
    reach, wanted = within(request), memory_id(request.match_info["memory_id"])
    memory = await remembered.one(request.app[STORE], reach, wanted)
    revisions = await remembered.history(request.app[STORE], reach, wanted)
    noted(request, reach, 1)
    return answer([shown_revision(one, memory) for one in revisions])
