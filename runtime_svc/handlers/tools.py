"""The memory tools of an application's agent: 200 and a sentence, also to nobody."""

from __future__ import annotations

from aiohttp import web

from runtime_svc import tools
from runtime_svc.handlers.turns import reader, turn
from runtime_svc.keys import LEARNING
from shared.http import body
from shared.http.answers import answer
from shared.http.auth import answers_nobody
from shared.scope import application_of


class Search(body.Body):
    """What to search for."""

    query: str


class Remember(body.Body):
    """What to remember."""

    content: str


@answers_nobody
async def search_memory(request: web.Request) -> web.Response:
    """What is remembered that is relevant to a query."""
    said = await body.read(request, Search)
    application = application_of(request.match_info["app"])
    return answer({"text": await tools.search_memory(reader(request), turn(request), application, said.query)})


@answers_nobody
async def remember(request: web.Request) -> web.Response:
    """Keep a fact or a preference."""
    said = await body.read(request, Remember)
    application = application_of(request.match_info["app"])
    return answer(
        {"text": await tools.remember(reader(request), request.app[LEARNING], turn(request), application, said.content)}
    )
