"""What is remembered, as a resource that a client may attach to a conversation."""

from __future__ import annotations

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ReadResourceResult, Resource, ResourceTemplate, TextResourceContents

from runtime_svc.mcp.answers import DATA, lines
from runtime_svc.mcp.visit import Visit
from runtime_svc.mcp.work import NOTHING

TEMPLATE = "memory://{app}/recent"
_NEWEST = 20
_DESCRIPTION = f"The {_NEWEST} things that were remembered last of the person ({DATA})."

TEMPLATES = [
    ResourceTemplate(
        name="recent", title="Recent memories", uri_template=TEMPLATE, description=_DESCRIPTION, mime_type="text/plain"
    )
]


def offered(visit: Visit) -> list[Resource]:
    """The resource of the application that is visited."""
    return [
        Resource(
            name="recent",
            title="Recent memories",
            uri=_uri(visit),
            description=_DESCRIPTION,
            mime_type="text/plain",
        )
    ]


async def read(visit: Visit, uri: str) -> ReadResourceResult:
    """The newest memories, or why there are none, in a sentence. Raises MCPError, ServiceError."""
    if uri != _uri(visit):
        raise MCPError(INVALID_PARAMS, f"There is no such resource here: there is {_uri(visit)}")
    text = visit.withheld() or await _recent(visit)
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type="text/plain", text=text)])


async def _recent(visit: Visit) -> str:
    page = await visit.reader.store.page(visit.scope, limit=_NEWEST)
    visit.reached.verb, visit.reached.memories = "list", len(page.memories)
    return (
        lines(f"What is remembered of the person, newest first ({DATA}):", page.memories) if page.memories else NOTHING
    )


def _uri(visit: Visit) -> str:
    return TEMPLATE.replace("{app}", visit.app)
