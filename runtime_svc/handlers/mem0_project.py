"""The Mem0 dialect's project: instructions and categories that hold for what a key's owner adds."""

from __future__ import annotations

from typing import Any

from aiohttp import web
from pydantic import Field

from runtime_svc.mem0_dialect.adding import catalogue_of
from runtime_svc.mem0_dialect.projects import ORGANIZATION, keep_settings, project_of, settings_of
from shared.errors import NotAllowed, NotFound
from shared.http import body
from shared.http.answers import answer
from shared.http.keys import CALLER, CLIENT_RECORDS

_KEPT = (
    "name",
    "description",
    "custom_instructions",
    "agent_custom_instructions",
    "custom_categories",
    "multilingual",
    "enable_graph",
    "version",
)


class Project(body.Body):
    """What is to be different; null takes it back."""

    name: str | None = Field(default=None, max_length=255)
    description: str | None = Field(default=None, max_length=2_000)
    custom_instructions: str | None = Field(default=None, max_length=10_000)
    agent_custom_instructions: str | None = Field(default=None, max_length=10_000)
    custom_categories: list[Any] | None = Field(default=None, max_length=100)
    multilingual: bool | None = None
    enable_graph: bool | None = None
    version: str | None = Field(default=None, max_length=10)


async def get(request: web.Request) -> web.Response:
    """The project, whole."""
    return answer(await _shown(request, _project(request)))


async def update(request: web.Request) -> web.Response:
    """Change what is said, keep the rest."""
    said = await body.read(request, Project)
    catalogue_of(said.custom_categories)
    project = _project(request)
    kept = await settings_of(request.app[CLIENT_RECORDS], request[CALLER])
    changed = {**kept, **said.model_dump(include=said.model_fields_set & set(_KEPT))}
    await keep_settings(request.app[CLIENT_RECORDS], request[CALLER], changed)
    return answer({"message": "Project updated successfully", **await _shown(request, project)})


async def refuse(request: web.Request) -> web.Response:
    """Projects are neither made nor deleted here: there is one for each application. Raises NotAllowed."""
    raise NotAllowed(f"Projects are not made, deleted or joined here ({request.method}): an application is one.")


def _project(request: web.Request) -> str:
    project = project_of(request[CALLER])
    if (request.match_info["organization"], request.match_info["project"]) != (ORGANIZATION, project):
        raise NotFound("There is no such project.")
    return project


async def _shown(request: web.Request, project: str) -> dict[str, Any]:
    kept = await settings_of(request.app[CLIENT_RECORDS], request[CALLER])
    return {
        "id": project,
        "project_id": project,
        "org_id": ORGANIZATION,
        "name": kept.get("name") or project,
        **{name: kept.get(name) for name in _KEPT if name != "name"},
    }
