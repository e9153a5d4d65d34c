"""What the tools take and give, as models and as JSON Schema."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from shared.http.body import Body
from shared.wording import CORRECTED_LONGEST, LEARNED_LONGEST


class Search(Body):
    """What is looked for."""

    query: str = Field(description="What to look for, in natural language.")
    limit: int = Field(default=5, ge=1, le=50, description="How many memories at most.")


class Remember(Body):
    """What is to be remembered."""

    content: str = Field(description=f"One fact or preference, clear by itself. At most {LEARNED_LONGEST} characters.")


class Listing(Body):
    """Which page of the list."""

    limit: int = Field(default=20, ge=1, le=100, description="How many memories at most.")
    cursor: str | None = Field(default=None, description="Where the page starts: `next` of the page before.")


class One(Body):
    """One memory."""

    memory_id: str = Field(description="The memory's id, as search_memory and list_memories give it.")


class Correction(One):
    """One memory and its new words."""

    memory: str = Field(description=f"What it should remember instead. At most {CORRECTED_LONGEST} characters.")


class Document(Body):
    """A document of typed data."""

    type: str = Field(description="The document's type, such as UserFacts or org.example.UserFacts.")
    data: Any = Field(description="The whole document as JSON, at most 64 KiB. It replaces the one before.")


class All(Body):
    """The confirmation of forgetting everything."""

    count: int = Field(
        ge=0, description="How many memories the person was shown and confirmed: `total` of list_memories."
    )


def takes(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments."""
    schema = model.model_json_schema()
    properties = {name: _bare(member) for name, member in schema["properties"].items()}
    return {"type": "object", "properties": properties, "required": schema.get("required", [])}


def _bare(member: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in member.items() if key != "title"}


_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}
_MAYBE = {"type": ["string", "null"]}
_MEMORY = {
    "type": "object",
    "properties": {
        "id": _TEXT,
        "memory": _TEXT,
        "created_at": _MAYBE,
        "updated_at": _MAYBE,
        "corrected_by": _MAYBE,
        "corrected_at": _MAYBE,
        "score": {"type": "number"},
        "remembered_by": {"type": "string", "description": "The other application that remembers it."},
    },
    "required": ["id", "memory"],
}
_ENTRY = {"type": "object", "properties": {"event": _TEXT, "new_memory": _MAYBE, "at": _TEXT}, "required": ["event"]}


def _gives(required: list[str], **members: dict[str, Any]) -> dict[str, Any]:
    note = {"type": "string", "description": "Why nothing was done, where nothing was."}
    return {"type": "object", "properties": {**members, "note": note}, "required": required}


_MEMORIES = {"type": "array", "items": _MEMORY}
FOUND = _gives(["memories", "count"], memories=_MEMORIES, count=_NUMBER)
LISTED = _gives(["memories", "count", "total"], memories=_MEMORIES, count=_NUMBER, total=_NUMBER, next=_MAYBE)
STORED = _gives(["stored"], stored={"type": "boolean"}, id=_TEXT, event=_TEXT, event_id=_TEXT)
CORRECTED = _gives(["corrected"], corrected=_NUMBER, memory=_MEMORY)
FORGOTTEN = _gives(["forgotten"], forgotten=_NUMBER, held_by_snapshots=_NUMBER)
WRITTEN = _gives(["stored"], stored={"type": "boolean"}, type=_TEXT, revision=_NUMBER)
HISTORY = _gives(["history"], history={"type": "array", "items": _ENTRY})
