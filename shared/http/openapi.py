"""`/openapi.json`: the routes that there are as an OpenAPI 3.1 document, with the bodies that handlers read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

from shared.http.answers import dumped
from shared.http.body import Body
from shared.http.routing import add_routes

Bodies = Mapping[Handler, type[Body]]
"""What each handler that reads a model reads."""

_NOT_WORD = re.compile(r"\W+")
_PART = re.compile(r"{(\w+)}")
_REFERENCE = "#/components/schemas/{model}"
_ERROR = {
    "type": "object",
    "required": ["detail", "error", "message", "code"],
    "properties": {
        "detail": {"type": "string"},
        "error": {"type": ["string", "object"], "description": "The sentence; an object where OpenAI clients call."},
        "message": {"type": "string"},
        "code": {"type": "string"},
    },
}
_SECURITY = {
    "token": {"type": "http", "scheme": "bearer", "description": "A person's signed token."},
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "An API key of a person's."},
}
_DOCUMENT = web.AppKey("openapi", bytes)


def describe(app: web.Application, title: str, bodies: Bodies) -> None:
    """Make the document of the routes that the application has by now."""
    add_routes(app, [web.get("/openapi.json", openapi)])
    app[_DOCUMENT] = dumped(document(app, title, bodies))


async def openapi(request: web.Request) -> web.Response:
    """The document of this service."""
    return web.Response(body=request.app[_DOCUMENT], content_type="application/json")


def document(app: web.Application, title: str, bodies: Bodies) -> dict[str, Any]:
    """Each address once, without its trailing slash."""
    paths: dict[str, dict[str, Any]] = {}
    schemas: dict[str, Any] = {"Error": _ERROR}
    for route in app.router.routes():
        resource = route.resource
        if resource is not None and route.method in {"GET", "POST", "PUT", "PATCH", "DELETE"}:
            path = resource.canonical.rstrip("/")
            paths.setdefault(path, {})[route.method.lower()] = _operation(path, route, bodies, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": _version()},
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": _SECURITY},
        "security": [{"token": []}, {"key": []}],
    }


def _operation(path: str, route: web.AbstractRoute, bodies: Bodies, schemas: dict[str, Any]) -> dict[str, Any]:
    handler = route.handler
    refusal = {"description": "A refusal, in a sentence.", "content": _json({"$ref": "#/components/schemas/Error"})}
    found: dict[str, Any] = {
        "summary": (handler.__doc__ or "").strip().split("\n")[0],
        "operationId": f"{route.method.lower()}_{_NOT_WORD.sub('_', path).strip('_')}",
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in _PART.findall(path)
        ],
        "responses": {"2XX": {"description": "Done."}, "default": refusal},
    }
    model = bodies.get(handler)
    if model is not None:
        name = f"{model.__module__.rpartition('.')[2]}_{model.__name__}"
        schema = model.model_json_schema(ref_template=_REFERENCE)
        schemas.update(schema.pop("$defs", {}))
        schemas[name] = schema
        found["requestBody"] = {"content": _json({"$ref": _REFERENCE.format(model=name)})}
    return found


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _version() -> str:
    try:
        return version("runtime-memory")
    except PackageNotFoundError:
        return "0"
