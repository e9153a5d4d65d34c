"""Upkeep of the memory table of the local store."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import timedelta

from shared.named import Named, naming
from shared.payloads import WORDS_VERSION
from shared.records import By, Memory, Vector
from shared.scope import Scope
from shared.stores.local import forgetting, rows, scopes, state_rows
from shared.stores.local.database import Database
from shared.stores.maintenance import Stale
from shared.times import now, stamp


class LocalMaintenance:
    """`Maintenance` in one directory."""

    def __init__(self, database: Database, *, dimensions: int) -> None:
        self._database = database
        self._dimensions = dimensions

    async def stale(self, *, after: str, limit: int) -> Sequence[Stale]:
        """See the port."""

        def job(connection: sqlite3.Connection) -> list[Stale]:
            sql = (
                "SELECT id, payload, user_id, agent_id FROM stale JOIN memories USING (id)"
                " WHERE id > ? AND (until IS NULL OR until <= ?) ORDER BY id LIMIT ?"
            )
            found = connection.execute(sql, (after, stamp(now()), limit)).fetchall()
            memories = [(Scope(row[2], row[3]), rows.memory_of(row[0], row[1])) for row in found]
            return [Stale(scope, memory, "vector_of" in memory.payload) for scope, memory in memories]

        return await self._database.read(job)

    async def refresh(
        self, stale: Stale, *, lexemes: str, vector: Vector | None, named: Sequence[Named] | None = None
    ) -> bool:
        """See the port."""

        def job(connection: sqlite3.Connection) -> bool:
            row = rows.find(connection, stale.scope, stale.memory.id)
            if row is None or row.memory.words != stale.memory.words:
                return False
            payload = {**row.memory.payload, "text_lemmatized": lexemes, "words_version": WORDS_VERSION}
            if named is not None:
                payload |= naming(named)
                payload = {key: value for key, value in payload.items() if value is not None}
            blob = row.vector
            if vector is not None:
                payload.pop("vector_of", None)
                blob = rows.blob(vector, self._dimensions)
            version = scopes.raise_version(connection, stale.scope)
            fresh = rows.Row(row.key, Memory(row.memory.id, payload), blob)
            rows.replace(connection, stale.scope, row.key, fresh, version)
            return True

        return await self._database.write(job)

    async def set_aside(self, stale: Stale, *, seconds: float) -> None:
        """See the port. A memory that was changed meanwhile is not."""
        until = stamp(now() + timedelta(seconds=seconds))

        def job(connection: sqlite3.Connection) -> None:
            row = rows.find(connection, stale.scope, stale.memory.id)
            if row is not None and row.memory.payload.get("updated_at") == stale.memory.payload.get("updated_at"):
                connection.execute("UPDATE stale SET until = ? WHERE id = ?", (until, stale.memory.id))

        await self._database.write(job)

    async def sweep(self, before: str, by: By, *, limit: int) -> int:
        """See the port."""

        def job(connection: sqlite3.Connection) -> int:
            state_rows.sweep(connection)
            found = connection.execute(
                "SELECT id, user_id, agent_id FROM memories WHERE expires_on < ? LIMIT ?", (before, limit)
            ).fetchall()
            for memory_id, person, application in found:
                scope = Scope(person, application)
                row = rows.find(connection, scope, memory_id)
                if row is not None:
                    scopes.raise_version(connection, scope)
                    forgetting.forget_row(connection, scope, row, by, now(), verb="expire")
            return len(found)

        return await self._database.forget(job)
