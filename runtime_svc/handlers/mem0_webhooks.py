"""The Mem0 dialect's webhooks: registered, listed, changed, removed."""

from __future__ import annotations

import secrets
from typing import Any

from aiohttp import web
from pydantic import Field

from runtime_svc.keys import PRIVATE_WEBHOOKS
from runtime_svc.mem0_dialect.projects import project_of
from runtime_svc.webhooks.registered import MOST, checked_events, checked_url, new_body, shown
from shared.client_records import WEBHOOK, ClientRecord
from shared.errors import Conflict, NotAllowed, NotFound
from shared.http import body
from shared.http.answers import answer
from shared.http.keys import CALLER, CLIENT_RECORDS
from shared.scope import Everything, Scope
from shared.tokens import Person, person_of, reach_of


class NewWebhook(body.Body):
    """What is told to whom."""

    url: str
    name: str = Field(default="webhook", min_length=1, max_length=255)
    event_types: list[str] = Field(max_length=20)


class ChangedWebhook(body.Body):
    """What is to be different."""

    url: str | None = None
    name: str | None = Field(default=None, min_length=1, max_length=255)
    event_types: list[str] | None = Field(default=None, max_length=20)


async def list_webhooks(request: web.Request) -> web.Response:
    """Those of the caller's project, oldest first."""
    project, application = _project(request), _application(request)
    found = await request.app[CLIENT_RECORDS].of(_person(request), WEBHOOK)
    return answer([shown(one, project) for one in found if one.body["application"] == application])


async def create(request: web.Request) -> web.Response:
    """A new one; the secret that signs what it is told is in this answer only."""
    _check_own_word(request)
    said, project = await body.read(request, NewWebhook), _project(request)
    private = request.app[PRIVATE_WEBHOOKS]
    kept = new_body(said.name, said.url, said.event_types, _application(request), private=private)
    if len(await request.app[CLIENT_RECORDS].of(_person(request), WEBHOOK)) >= MOST:
        raise Conflict(f"There are {MOST} webhooks, the most there may be.")
    record = await request.app[CLIENT_RECORDS].put(_person(request), WEBHOOK, f"wh_{secrets.token_hex(8)}", kept)
    return answer(shown(record, project, with_secret=True), status=201)


async def update(request: web.Request) -> web.Response:
    """Change what is said, keep the rest."""
    _check_own_word(request)
    said, record = await body.read(request, ChangedWebhook), await _one(request)
    changed: dict[str, Any] = {name: value for name, value in said.model_dump().items() if value is not None}
    if said.url is not None:
        changed["url"] = checked_url(said.url, private=request.app[PRIVATE_WEBHOOKS])
    if said.event_types is not None:
        changed["event_types"] = checked_events(said.event_types)
    await request.app[CLIENT_RECORDS].put(_person(request), WEBHOOK, record.id, {**record.body, **changed})
    return answer({"message": "Webhook updated successfully"})


async def delete(request: web.Request) -> web.Response:
    """Remove one; nothing more is told to it."""
    record = await _one(request)
    await request.app[CLIENT_RECORDS].drop(_person(request), WEBHOOK, record.id)
    return answer({"message": "Webhook deleted successfully"})


async def _one(request: web.Request) -> ClientRecord:
    found = await request.app[CLIENT_RECORDS].get(_person(request), WEBHOOK, request.match_info["webhook_id"])
    if found is None or found.body["application"] != _application(request):
        raise NotFound("There is no such webhook.")
    return found


def _check_own_word(request: web.Request) -> None:
    """Raises NotAllowed for who acts for another: a webhook would go on telling after that key is gone, unrecorded."""
    caller = request[CALLER]
    if isinstance(caller, Person) and caller.actor != caller.uid:
        raise NotAllowed("A webhook is the person's own word: it is set up with a token or a key of their own.")


def _person(request: web.Request) -> Everything:
    return Everything(person_of(request[CALLER]))


def _application(request: web.Request) -> str | None:
    reach = reach_of(request[CALLER])
    return reach.application if isinstance(reach, Scope) else None


def _project(request: web.Request) -> str:
    project = project_of(request[CALLER])
    if request.match_info["project"] != project:
        raise NotFound("There is no such project.")
    return project
