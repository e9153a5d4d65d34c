"""Typed data memory, under `/api/v1/apps/memory-data`; mounted by the runtime."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from shared import typed_data
from shared.errors import BadValue
from shared.http import body
from shared.http.answers import answer
from shared.http.keys import CALLER
from shared.records import By, Door
from shared.scope import Scope, application_of
from shared.snapshots.units import shown_time
from shared.stores.data import DataRevision, DataStore
from shared.tokens import by_of, scope_of

DATA: web.AppKey[DataStore] = web.AppKey("data", DataStore)

_PATH = "/api/v1/apps/memory-data/{app}"
_TYPE = _PATH + "/{type}"


class Data(body.Body):
    """A document."""

    data: Any = None


def routes() -> list[web.RouteDef]:
    """The routes of typed data, as a table."""
    return [
        web.get(_PATH, list_types),
        web.put(_TYPE, put),
        web.get(_TYPE, get),
        web.delete(_TYPE, forget),
        web.put(_TYPE + "/schema", put_schema),
        web.get(_TYPE + "/schema", get_schema),
        web.delete(_TYPE + "/schema", remove_schema),
    ]


def scope(request: web.Request) -> Scope:
    """The person calling and the application in the path."""
    return scope_of(request[CALLER], application_of(request.match_info["app"]))


def type_(request: web.Request) -> str:
    """The type in the path."""
    return typed_data.type_name(request.match_info["type"])


def by(request: web.Request) -> By:
    """Who is recorded."""
    return by_of(request[CALLER], Door.APPS)


def shown(revision: DataRevision) -> dict[str, Any]:
    """What a document was, since when, and who said so."""
    return {
        "revision": revision.revision,
        "data": revision.data,
        "created": shown_time(revision.created),
        "by": revision.actor,
    }


async def list_types(request: web.Request) -> web.Response:
    """The types of which there is a document."""
    found = await request.app[DATA].types(scope(request))
    return answer({"app": request.match_info["app"], "count": len(found), "types": found})


async def put(request: web.Request) -> web.Response:
    """Write a new revision."""
    said = await body.read(request, Data)
    written = await typed_data.put(request.app[DATA], scope(request), type_(request), said.data, by(request))
    return answer({"app": request.match_info["app"], "type": type_(request), **shown(written)})


async def get(request: web.Request) -> web.Response:
    """The document as it is, and every revision of it."""
    found = await typed_data.get(request.app[DATA], scope(request), type_(request))
    revisions = [shown(one) for one in found]
    return answer({"app": request.match_info["app"], "type": type_(request), **revisions[-1], "revisions": revisions})


async def forget(request: web.Request) -> web.Response:
    """A document with all its revisions."""
    return answer(
        {"forgotten": await typed_data.forget(request.app[DATA], scope(request), type_(request), by(request))}
    )


async def put_schema(request: web.Request) -> web.Response:
    """Set the schema of a type: the body is `{"schema": …}`."""
    said = await body.read_object(request)
    if "schema" not in said:
        raise BadValue("schema is missing.")
    await typed_data.set_schema(request.app[DATA], scope(request), type_(request), said["schema"])
    return answer({"app": request.match_info["app"], "type": type_(request), "schema": said["schema"]})


async def get_schema(request: web.Request) -> web.Response:
    """The schema of a type."""
    found = await typed_data.schema_of(request.app[DATA], scope(request), type_(request))
    return answer({"app": request.match_info["app"], "type": type_(request), "schema": found})


async def remove_schema(request: web.Request) -> web.Response:
    """A type without a schema takes any JSON."""
    await typed_data.remove_schema(request.app[DATA], scope(request), type_(request))
    return answer({"removed": 1})
