"""Another embedder for a directory: memories marked as waiting for a vector of it, and its width noted.

Broken off at any moment nothing is lost, and it goes on when it is called again. Vectors of the old width are emptied
before the new one is noted: so a store never holds two widths under one.
"""

from __future__ import annotations

import asyncio
import sqlite3
from functools import partial
from pathlib import Path

from shared.errors import CannotStartError
from shared.records import Memory
from shared.scope import Scope
from shared.stores.local import rows, scopes
from shared.stores.local.database import Database
from shared.stores.local.directory import Directory, Identity
from shared.stores.local.opening import opened

_BATCH = 500


async def widen(path: Path, dimensions: int, *, everything: bool) -> None:
    """Have a store's vectors made again: those of another width, or, with `everything`, all; these serve until then.

    Raises CannotStartError: no store, in use, damaged.
    """
    if not await asyncio.to_thread(path.is_dir):
        raise CannotStartError(f"{path} holds no store.")
    directory, database = await opened(path, None)
    try:
        await _mark(database, dimensions, everything=everything)
        await _note(directory, database, dimensions)
    finally:
        await database.close()
        directory.release()


async def _mark(database: Database, dimensions: int, *, everything: bool) -> None:
    last: int | None = 0
    while last is not None:
        last = await database.write(partial(_mark_some, after=last, width=4 * dimensions, everything=everything))


def _mark_some(connection: sqlite3.Connection, *, after: int, width: int, everything: bool) -> int | None:
    """Mark some beyond a key; the key of the last one, None at the end."""
    found = connection.execute(
        "SELECT key, id, payload, vector, user_id, agent_id FROM memories WHERE key > ?"
        " AND (? OR length(vector) NOT IN (0, ?)) ORDER BY key LIMIT ?",
        (after, everything, width, _BATCH),
    ).fetchall()
    for key, memory_id, payload, vector, person, application in found:
        row, scope = rows.Row(key, rows.memory_of(memory_id, payload), vector), Scope(person, application)
        rows.replace(connection, scope, key, _waiting(row, width), scopes.raise_version(connection, scope))
    return found[-1][0] if found else None


def _waiting(row: rows.Row, width: int) -> rows.Row:
    payload, fits = row.memory.payload, len(row.vector) == width
    words = payload.get("vector_of") or payload.get("hash") or rows.NOT_EMBEDDED
    stale = {**payload, "vector_of": words if fits else rows.NOT_EMBEDDED}
    return rows.Row(row.key, Memory(row.memory.id, stale), row.vector if fits else rows.NO_VECTOR)


async def _note(directory: Directory, database: Database, dimensions: int) -> None:
    """The width, in the database and then beside it; what the old embedder refused waits like all else."""

    def job(connection: sqlite3.Connection) -> str:
        connection.execute("UPDATE stale SET until = NULL WHERE until IS NOT NULL")
        connection.execute("UPDATE identity SET dimensions = ?", (dimensions,))
        return str(connection.execute("SELECT id FROM identity").fetchone()[0])

    identity = Identity(await database.write(job), dimensions)
    await asyncio.to_thread(directory.mark, identity)
