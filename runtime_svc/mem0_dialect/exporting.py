"""Memories as an export or a summary shows them, and what an export is called."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

from runtime_svc.mem0_dialect.asking import acting
from runtime_svc.mem0_dialect.views import shown
from shared.context import one_line
from shared.documents import check_document
from shared.errors import BadValue, NotAllowed, NotFound
from shared.records import Memory
from shared.tokens import Caller, Person

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


def shown_id(record_id: str, caller: Caller) -> str:
    """The id as it is answered. One of a key that acts for another says for whom: fetching it names no `user_id`."""
    if not isinstance(caller, Person) or caller.actor == caller.uid:
        return record_id
    return f"{record_id}.{base64.urlsafe_b64encode(caller.uid.encode()).decode()}"


def fetching(caller: Caller, export_id: str) -> tuple[Caller, str]:
    """Who fetches an export by its shown id, and its record's id.

    The id gives nothing: for whom the caller may not act, it is unknown. Raises NotFound.
    """
    record_id, _, whose = export_id.partition(".")
    if not whose:
        return caller, record_id
    try:
        return acting(caller, (base64.b64decode(whose, altchars=b"-_", validate=True).decode(),)), record_id
    except (ValueError, BadValue, NotAllowed):
        raise unknown_export() from None


def unknown_export() -> NotFound:
    """There is none, or it is somebody else's."""
    return NotFound("No memory export request found")


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
