"""Where a page of a list ended, as an opaque text: the same on both engines."""

from __future__ import annotations

import base64
import binascii
import json
from uuid import UUID

import orjson

from shared.errors import BadValue

_LONGEST = 200


def encode(created_at: str | None, memory_id: str) -> str:
    """The cursor after a memory: its sortable time as the engine keeps it (None when unreadable), and its id."""
    return base64.urlsafe_b64encode(orjson.dumps([created_at, memory_id])).decode().rstrip("=")


def decode(text: str) -> tuple[str | None, str]:
    """The time and the id of a cursor. Raises BadValue for whatever `encode` did not make."""
    try:
        created_at, memory_id = _read(text)
        if encode(created_at, memory_id) == text:
            return created_at, memory_id
    except (ValueError, TypeError, RecursionError, binascii.Error):
        pass
    raise BadValue("That is no place in this list: give back the `next` of a page, unchanged.")


def _read(text: str) -> tuple[str | None, str]:
    if len(text) > _LONGEST:
        raise ValueError
    created_at, memory_id = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    if not isinstance(memory_id, str) or str(UUID(memory_id)) != memory_id:
        raise ValueError
    if created_at is not None and not (
        isinstance(created_at, str) and created_at.isascii() and created_at.isprintable()
    ):
        raise ValueError
    return created_at, memory_id
