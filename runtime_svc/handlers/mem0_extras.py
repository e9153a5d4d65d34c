"""The rest of the Mem0 dialect: exports, feedback, a summary."""

from __future__ import annotations

import uuid
from typing import Any, Literal

from aiohttp import web
from pydantic import Field

from runtime_svc.handlers.mem0_memories import memory_id, noted, within
from runtime_svc.mem0_dialect.asking import ENTITIES, asked, ids_of
from runtime_svc.mem0_dialect.exporting import exported, fetching, schema_of, shown_id, summary_of, unknown_export
from shared import remembered
from shared.client_records import FEEDBACK
from shared.http import body
from shared.http.answers import answer
from shared.http.keys import CALLER, CLIENT_RECORDS, STORE
from shared.scope import Everything, Reach, Scope
from shared.tokens import person_of, reach_of

_EXPORT = "export"
_MOST = 1000


class Within(body.Body):
    """What is meant: filters, or ids at the top level."""

    filters: dict[str, Any] | None = None
    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None


class Export(Within):
    """What is to be exported, and in which shape."""

    schema_: str | dict[str, Any] | None = Field(default=None, alias="schema")
    export_instructions: str | None = Field(default=None, max_length=10_000)


class Exported(Within):
    """Which export."""

    memory_export_id: str | None = None


class Feedback(body.Body):
    """What is thought of a memory. The reason is not kept: it may say what the memory says."""

    memory_id: str
    feedback: Literal["POSITIVE", "NEGATIVE", "VERY_NEGATIVE"] | None = None
    feedback_reason: str | None = None


async def create_export(request: web.Request) -> web.Response:
    """Keep what is asked for; the data is read when it is fetched, so nothing forgotten stays in an export."""
    said = await body.read(request, Export)
    wanted = asked(request[CALLER], said.filters, _ids(said))
    request[CALLER] = wanted.caller
    kept = {
        "schema": schema_of(said.schema_),
        "filters": [said.filters, _ids(said)],
        "application": _application(wanted.reach),
    }
    export_id = str(uuid.uuid4())
    await request.app[CLIENT_RECORDS].put(Everything(person_of(wanted.caller)), _EXPORT, export_id, kept)
    message = "Memory export request received. The export will be ready in a few seconds."
    return answer({"message": message, "id": shown_id(export_id, wanted.caller)}, status=201)


async def get_export(request: web.Request) -> web.Response:
    """The data of an export, by its id or of the person's latest; a bound key knows those of its application."""
    said = await body.read(request, Exported)
    request[CALLER] = asked(request[CALLER], said.filters, _ids(said), entity_required=False).caller
    kept = await _kept(request, said.memory_export_id)
    wanted = asked(request[CALLER], *kept["filters"])
    request[CALLER] = wanted.caller
    page = await request.app[STORE].page(wanted.reach, limit=_MOST, where=wanted.where)
    noted(request, wanted.reach, len(page.memories))
    return answer(exported(page.memories, kept["schema"]))


async def _kept(request: web.Request, export_id: str | None) -> dict[str, Any]:
    if export_id is not None:
        request[CALLER], export_id = fetching(request[CALLER], export_id)
    exports = await request.app[CLIENT_RECORDS].of(Everything(person_of(request[CALLER])), _EXPORT)
    application = _application(reach_of(request[CALLER]))
    found = [one for one in exports if export_id in (None, one.id) and one.body.get("application") == application]
    if not found:
        raise unknown_export()
    return dict(found[-1].body)


def _application(reach: Reach) -> str | None:
    return reach.application if isinstance(reach, Scope) else None


async def feedback(request: web.Request) -> web.Response:
    """Keep what is thought of a memory; null takes it back."""
    said = await body.read(request, Feedback)
    reach, wanted = within(request), memory_id(said.memory_id)
    await remembered.one(request.app[STORE], reach, wanted)
    person = Everything(reach.person)
    if said.feedback is None:
        await request.app[CLIENT_RECORDS].drop(person, FEEDBACK, wanted)
    else:
        await request.app[CLIENT_RECORDS].put(person, FEEDBACK, wanted, {"feedback": said.feedback})
    return answer({"id": wanted, "feedback": said.feedback, "feedback_reason": said.feedback_reason})


async def summary(request: web.Request) -> web.Response:
    """The newest of what is remembered, as one text."""
    said = await body.read(request, Within)
    wanted = asked(request[CALLER], said.filters, _ids(said))
    request[CALLER] = wanted.caller
    page = await request.app[STORE].page(wanted.reach, limit=50, where=wanted.where)
    noted(request, wanted.reach, len(page.memories))
    return answer({"summary": summary_of(page.memories), "count": page.total})


def _ids(said: Within) -> dict[str, object]:
    return ids_of({name: getattr(said, name) for name in ENTITIES})
