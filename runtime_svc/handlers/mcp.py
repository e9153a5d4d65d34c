"""The Model Context Protocol over HTTP: what an application remembers, as tools for a model."""

from __future__ import annotations

from aiohttp import web

from runtime_svc.handlers.turns import reader, turn
from runtime_svc.keys import LEARNING, MCP
from runtime_svc.mcp.visit import Visit
from shared.http.accesses import record
from shared.http.auth import answers_nobody
from shared.http.data import DATA
from shared.http.keys import CALLER, RECORDED
from shared.scope import application_of
from shared.tokens import Nobody, scope_of


@answers_nobody
async def message(request: web.Request) -> web.Response:
    """One message and its answer; nobody is answered in the sentences of the memory tools."""
    application = application_of(request.match_info["app"])
    if not isinstance(request[CALLER], Nobody):
        # A key that is bound to another application is told so before it lists a tool.
        scope_of(request[CALLER], application)
    visit = Visit(reader(request), request.app[LEARNING], request.app.get(DATA), turn(request), application)
    answered = await request.app[MCP].exchange(request, visit)
    if visit.reached.verb is None:
        request[RECORDED] = True
    else:
        await record(request, visit.reached.verb, visit.reached.memories, application)
    return answered


@answers_nobody
async def stream(request: web.Request) -> web.Response:
    """There is no stream of messages and no session to end: clients read 405 as that."""
    application_of(request.match_info["app"])
    raise web.HTTPMethodNotAllowed(request.method, ["POST"])
