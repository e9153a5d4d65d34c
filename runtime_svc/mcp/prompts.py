"""A prompt that recalls what is remembered for a topic."""

from __future__ import annotations

from collections.abc import Mapping

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, GetPromptResult, Prompt, PromptArgument, PromptMessage, TextContent

from runtime_svc import tools
from runtime_svc.finding import find
from runtime_svc.mcp.answers import DATA, found_lines
from runtime_svc.mcp.visit import Visit
from runtime_svc.recalling import Query

NAME = "recall"
_MOST = 10

PROMPTS = [
    Prompt(
        name=NAME,
        title="Recall what is remembered",
        description="Puts what is remembered of the person for a topic into the conversation.",
        arguments=[PromptArgument(name="topic", description="What the conversation is about.", required=True)],
    )
]


async def get(visit: Visit, name: str, arguments: Mapping[str, str] | None) -> GetPromptResult:
    """The prompt, filled. Raises MCPError, ServiceError."""
    if name != NAME:
        raise MCPError(INVALID_PARAMS, f"There is no such prompt here: there is {NAME}.")
    text = visit.withheld() or visit.remembers_not() or await _recalled(visit, (arguments or {}).get("topic", ""))
    message = PromptMessage(role="user", content=TextContent(text=text))
    return GetPromptResult(description="What is remembered for a topic.", messages=[message])


async def _recalled(visit: Visit, topic: str) -> str:
    found = await find(visit.reader, visit.turn, visit.application, Query(topic, _MOST))
    visit.reached.verb, visit.reached.memories = "recall", len(found.hits)
    if found.unread is not None:
        return f"{tools.SEARCH_UNAVAILABLE} {found.unread}"
    heading = f"Take into account what is remembered of me from earlier conversations ({DATA}):"
    return found_lines(found.hits, heading) if found.hits else tools.NOTHING_FOUND
