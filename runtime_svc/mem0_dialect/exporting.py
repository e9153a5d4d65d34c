"""Memories as an export or a summary shows them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from runtime_svc.mem0_dialect.views import shown
from shared.context import one_line
from shared.documents import check_document
from shared.errors import BadValue
from shared.records import Memory

_LARGEST_SCHEMA = 64 * 1024


def schema_of(said: str | dict[str, Any] | None) -> dict[str, Any]:
    """An export's schema: an object, or one as JSON text. Raises BadValue."""
    if isinstance(said, str):
        try:
            said = json.loads(said)
        except (ValueError, RecursionError):
            said = None
    if not isinstance(said, dict) or not said:
        raise BadValue("schema is required: a JSON schema of what is exported.")
    check_document(said, "schema", most=_LARGEST_SCHEMA)
    return said


def exported(memories: Sequence[Memory], schema: dict[str, Any]) -> dict[str, Any]:
    """What there is, under the schema's own names where a name says what is meant, and whole in `memories`.

    Nothing is made up: a property that no memory can fill is null.
    """
    properties = schema.get("properties")
    views = [shown(memory) for memory in memories]
    texts = [view["memory"] for view in views]
    found = {name: _filled(kind, texts) for name, kind in properties.items()} if isinstance(properties, dict) else {}
    return {**found, "memories": views}


def _filled(kind: object, texts: list[str]) -> object:
    wanted = kind.get("type") if isinstance(kind, dict) else None
    return texts if wanted == "array" else "\n".join(texts) if wanted == "string" and texts else None


def summary_of(memories: Sequence[Memory]) -> str:
    """One line a memory, newest first; words are taken as they are."""
    return "\n".join(f"- {one_line(memory.words)}" for memory in memories)
