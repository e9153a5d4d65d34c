"""Typed data in PostgreSQL: `runtime_memory.data` and the schemas of its types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import asyncpg

from shared.db.pool import Database
from shared.errors import Conflict
from shared.records import By
from shared.scope import Scope
from shared.stores.data import MOST_REVISIONS, MOST_TYPES, DataRevision
from shared.stores.pg import receipts, scopes
from shared.stores.pg.scopes import Connection
from shared.times import now, stamp

_PINNED = "user_id = $1 AND agent_id = $2 AND type = $3"


class PostgresData:
    """The typed data of people in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, scope: Scope, type_: str, data: Any, by: By) -> DataRevision:
        """See the port."""
        async with self._database.transaction(scope.person) as connection:
            await scopes.lock(connection, scope)
            last = await _last(connection, scope, type_)
            if last == 0:
                await _check_room(connection, scope)
            written = DataRevision(last + 1, data, by.actor, stamp(now()))
            await connection.execute(
                "INSERT INTO runtime_memory.data (user_id, agent_id, type, revision, data, actor, created)"
                " VALUES ($1, $2, $3, $4, $5, $6, $7)",
                scope.person,
                scope.application,
                type_,
                written.revision,
                data,
                written.actor,
                written.created,
            )
            await connection.execute(
                f"DELETE FROM runtime_memory.data WHERE {_PINNED} AND revision <= $4",  # noqa: S608 (constant)
                scope.person,
                scope.application,
                type_,
                written.revision - MOST_REVISIONS,
            )
            return written

    async def get(self, scope: Scope, type_: str) -> Sequence[DataRevision]:
        """See the port."""
        async with self._database.connection(scope.person) as connection:
            rows = await connection.fetch(
                "SELECT revision, data, actor, created FROM runtime_memory.data"  # noqa: S608 (constant)
                f" WHERE {_PINNED} ORDER BY revision",
                scope.person,
                scope.application,
                type_,
            )
        return [_revision(row) for row in rows]

    async def types(self, scope: Scope) -> Sequence[str]:
        """See the port."""
        async with self._database.connection(scope.person) as connection:
            rows = await connection.fetch(
                "SELECT DISTINCT type FROM runtime_memory.data WHERE user_id = $1 AND agent_id = $2 ORDER BY type",
                scope.person,
                scope.application,
            )
        return [row["type"] for row in rows]

    async def forget(self, scope: Scope, type_: str, by: By) -> int:
        """See the port."""
        async with self._database.transaction(scope.person) as connection:
            await scopes.lock(connection, scope)
            gone = await connection.fetch(
                f"DELETE FROM runtime_memory.data WHERE {_PINNED} RETURNING revision",  # noqa: S608 (constant)
                scope.person,
                scope.application,
                type_,
            )
            if not gone:
                return 0
            await receipts.write(connection, scope, receipts.Forgot("forget", 1), by, now())
            return 1

    async def schema(self, scope: Scope, type_: str) -> Any:
        """See the port."""
        async with self._database.connection(scope.person) as connection:
            return await connection.fetchval(
                f"SELECT schema FROM runtime_memory.data_schemas WHERE {_PINNED}",  # noqa: S608 (constant)
                scope.person,
                scope.application,
                type_,
            )

    async def set_schema(self, scope: Scope, type_: str, schema: Any) -> None:
        """See the port."""
        async with self._database.transaction(scope.person) as connection:
            await scopes.lock(connection, scope)
            await connection.execute(
                f"DELETE FROM runtime_memory.data_schemas WHERE {_PINNED}",  # noqa: S608 (constant)
                scope.person,
                scope.application,
                type_,
            )
            if schema is not None:
                await _insert_schema(connection, scope, type_, schema)


async def _insert_schema(connection: Connection, scope: Scope, type_: str, schema: Any) -> None:
    count = await connection.fetchval(
        "SELECT count(*) FROM runtime_memory.data_schemas WHERE user_id = $1 AND agent_id = $2",
        scope.person,
        scope.application,
    )
    if count >= MOST_TYPES:
        raise Conflict(f"An application has at most {MOST_TYPES} schemas. Remove one first.")
    await connection.execute(
        "INSERT INTO runtime_memory.data_schemas (user_id, agent_id, type, schema) VALUES ($1, $2, $3, $4)",
        scope.person,
        scope.application,
        type_,
        schema,
    )


async def _last(connection: Connection, scope: Scope, type_: str) -> int:
    found = await connection.fetchval(
        f"SELECT coalesce(max(revision), 0) FROM runtime_memory.data WHERE {_PINNED}",  # noqa: S608 (constant)
        scope.person,
        scope.application,
        type_,
    )
    return int(found)


async def _check_room(connection: Connection, scope: Scope) -> None:
    count = await connection.fetchval(
        "SELECT count(DISTINCT type) FROM runtime_memory.data WHERE user_id = $1 AND agent_id = $2",
        scope.person,
        scope.application,
    )
    if count >= MOST_TYPES:
        raise Conflict(f"An application keeps at most {MOST_TYPES} types of data. Forget one first.")


def _revision(row: asyncpg.Record) -> DataRevision:
    return DataRevision(row["revision"], row["data"], row["actor"], row["created"])
