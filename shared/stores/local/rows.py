"""One row of the memory table: a payload and a vector, with the columns that are derived from the payload."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import orjson

from shared.errors import BadValue, Unavailable
from shared.records import Memory, Payload, Vector
from shared.scope import Scope
from shared.stamps import utc_date, utc_stamp
from shared.stores.local.overflow import Value, padding

_HYPHENATED = 36
_LONGEST_HASH = 64

NO_VECTOR = b""
"""Of a memory that came without one, or with one of another embedder: it is near nothing until it is embedded."""

NOT_EMBEDDED = "none"
"""What `vector_of` says of such a memory: its vector is of no words."""


@dataclass(frozen=True, slots=True)
class Row:
    """A memory where it is kept."""

    key: int
    memory: Memory
    vector: bytes


def canonical(memory_id: object) -> str | None:
    """A memory's id as it is kept, or None for what cannot be one: a UUID with its hyphens, in any case."""
    try:
        known = isinstance(memory_id, str) and len(memory_id) == _HYPHENATED
        return str(UUID(memory_id)) if known else None  # type: ignore[arg-type]
    except ValueError:
        return None


def memory_of(memory_id: str, payload: str) -> Memory:
    """A stored memory, its payload as it was given. Raises Unavailable when a page of it was lost."""
    try:
        return Memory(memory_id, orjson.loads(payload))
    except ValueError as error:
        raise Unavailable("The store's database is damaged: restore the directory from a copy.") from error


def blob(vector: Vector, dimensions: int) -> bytes:
    """A vector as it is kept. Raises Unavailable for one of another width, or with what is no number."""
    kept = np.asarray(vector, dtype="<f4")
    if kept.shape != (dimensions,) or not np.isfinite(kept).all():
        raise Unavailable(f"The embedder made a vector that is not {dimensions} numbers. Nothing was written.")
    return kept.tobytes()


def insert(
    connection: sqlite3.Connection, scope: Scope, memory_id: str, payload: Payload, *, vector: bytes, version: int
) -> None:
    """A new row. `user_id` and `agent_id` are the scope's, whatever the payload says."""
    connection.execute(
        "INSERT INTO memories (id, user_id, agent_id, created_at, expires_on, run_id, hash, version, blank, payload,"
        " vector, fill) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        _columns(scope, memory_id, payload, vector, version),
    )
    _mark(connection, memory_id, payload)


def replace(connection: sqlite3.Connection, scope: Scope, key: int, row: Row, version: int) -> None:
    """The row whole, for its padding depends on every column."""
    connection.execute(
        "UPDATE memories SET id = ?, user_id = ?, agent_id = ?, created_at = ?, expires_on = ?, run_id = ?, hash = ?,"
        " version = ?, blank = ?, payload = ?, vector = ?, fill = ? WHERE key = ?",
        [*_columns(scope, row.memory.id, row.memory.payload, row.vector, version), key],
    )
    _mark(connection, row.memory.id, row.memory.payload)


def delete(connection: sqlite3.Connection, row: Row) -> None:
    """The row, and that it waits for anything."""
    connection.execute("DELETE FROM memories WHERE key = ?", (row.key,))
    connection.execute("DELETE FROM stale WHERE id = ?", (row.memory.id,))


def _mark(connection: sqlite3.Connection, memory_id: str, payload: Payload) -> None:
    """Note whether it waits for a fresh vector or fresh lexemes."""
    stale = payload.get("vector_of") is not None or payload.get("words_version") is None
    sql = _STALE if stale else "DELETE FROM stale WHERE id = ?"
    connection.execute(sql, (memory_id,))


_STALE = "INSERT INTO stale (id) VALUES (?) ON CONFLICT (id) DO UPDATE SET until = NULL"


def find(connection: sqlite3.Connection, scope: Scope, memory_id: str) -> Row | None:
    """One row of a scope; None when unknown, malformed, or of another scope."""
    found = connection.execute(
        "SELECT key, id, payload, vector FROM memories WHERE id = ? AND user_id = ? AND agent_id = ?",
        (canonical(memory_id), scope.person, scope.application),
    ).fetchone()
    return None if found is None else Row(found[0], memory_of(found[1], found[2]), found[3])


def _columns(scope: Scope, memory_id: str, payload: Payload, vector: bytes, version: int) -> list[Value]:
    kept = {**payload, "user_id": scope.person, "agent_id": scope.application}
    plain: list[Value] = [
        memory_id,
        scope.person,
        scope.application,
        utc_stamp(kept.get("created_at")),
        utc_date(kept.get("expiration_date")),
        _text(kept.get("run_id")),
        _text(kept.get("hash"), _LONGEST_HASH),
        version,
    ]
    text = json_text(kept)
    blank, fill = padding(plain, [text, vector])
    return [*plain, blank, text, vector, fill]


def _text(value: object, longest: int | None = None) -> str | None:
    return None if value is None else str(value)[:longest]


def json_text(value: object) -> str:
    """JSON as it is kept. Raises BadValue for what no store can keep."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise BadValue("It holds what cannot be kept: a number that is not finite, or broken text.") from error
    return text
