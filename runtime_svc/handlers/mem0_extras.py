"""The rest of the Mem0 dialect: exports, feedback, a summary."""

from __future__ import annotations

import uuid
from typing import Any, Literal

from aiohttp import web
from pydantic import Field

from runtime_svc.handlers.mem0_memories import memory_id, noted, within
from runtime_svc.mem0_dialect.asking import ENTITIES, Asked, asked, ids_of, together
from runtime_svc.mem0_dialect.exporting import exported, fetching, schema_of, shown_id, summary_of, unknown_export
from shared import remembered
from shared.client_records import FEEDBACK, ClientRecords
from shared.documents import check_document
from shared.errors import BadValue
from shared.http import body
from shared.http.answers import answer
from shared.http.keys import CALLER, CLIENT_RECORDS, STORE
from shared.records import Memory
from shared.scope import Everything, Reach, Scope
from shared.stores.ports import MemoryStore
from shared.tokens import person_of, reach_of

_EXPORT = "export"
_MOST = 20_000
_PAGE = 1000
_MOST_EXPORTS = 100
"""Of one person; the oldest goes when there are more, for nothing else ever lets one go."""
_LARGEST_FILTERS = 16 * 1024


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
    check_document([said.filters, _ids(said)], "filters", most=_LARGEST_FILTERS)
    kept = {
        "schema": schema_of(said.schema_),
        "filters": [said.filters, _ids(said)],
        "application": _application(wanted.reach),
    }
    export_id = str(uuid.uuid4())
    await _keep(request.app[CLIENT_RECORDS], Everything(person_of(wanted.caller)), export_id, kept)
    message = "Memory export request received. The export will be ready in a few seconds."
    return answer({"message": message, "id": shown_id(export_id, wanted.caller)}, status=201)


async def _keep(records: ClientRecords, person: Everything, export_id: str, kept: dict[str, Any]) -> None:
    for old in (await records.of(person, _EXPORT))[: -_MOST_EXPORTS + 1]:
        await records.drop(person, _EXPORT, old.id)
    await records.put(person, _EXPORT, export_id, kept)


async def get_export(request: web.Request) -> web.Response:
    """The data of an export: by its id, or the latest of a person's, of those with these filters where some are given.

    A bound key knows those of its application.
    """
    said = await body.read(request, Exported)
    request[CALLER] = asked(request[CALLER], said.filters, _ids(said), entity_required=False).caller
    kept = await _kept(request, said)
    wanted = asked(request[CALLER], *kept["filters"])
    request[CALLER] = wanted.caller
    memories = await _all(request.app[STORE], wanted)
    noted(request, wanted.reach, len(memories))
    return answer(exported(memories, kept["schema"]))


async def _all(store: MemoryStore, wanted: Asked) -> list[Memory]:
    """All that is asked for, page by page. Raises BadValue for more than an export holds."""
    page = await store.page(wanted.reach, limit=_PAGE, where=wanted.where)
    if page.total > _MOST:
        raise BadValue(f"An export holds at most {_MOST} memories, not {page.total}: narrow its filters.")
    found = list(page.memories)
    while page.next is not None:
        page = await store.page(wanted.reach, limit=_PAGE, after=page.next, where=wanted.where)
        found += page.memories
    return found


async def _kept(request: web.Request, said: Exported) -> dict[str, Any]:
    export_id = said.memory_export_id
    if export_id is not None:
        request[CALLER], export_id = fetching(request[CALLER], export_id)
    exports = await request.app[CLIENT_RECORDS].of(Everything(person_of(request[CALLER])), _EXPORT)
    application, where = _application(reach_of(request[CALLER])), together(said.filters, _ids(said))
    found = [
        one
        for one in exports
        if export_id in (None, one.id)
        and one.body.get("application") == application
        and (where is None or where == together(*one.body["filters"]))
    ]
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
