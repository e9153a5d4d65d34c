"""ClientRecords in PostgreSQL: `runtime_memory.client_records`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import asyncpg

from shared.client_records import MOST_RECORDS, ClientRecord
from shared.db.pool import Database
from shared.errors import Conflict
from shared.scope import Everything
from shared.times import now


class PostgresClientRecords:
    """The records of people in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, person: Everything, kind: str, record_id: str, body: Mapping[str, Any]) -> ClientRecord:
        """See the port."""
        async with self._database.transaction(person.person) as connection:
            # One writer a person: two requests cannot both take the last place.
            await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 5))", person.person)
            others = await connection.fetchval(
                "SELECT count(*) FROM runtime_memory.client_records WHERE user_id = $1 AND kind = $2 AND id <> $3",
                person.person,
                kind,
                record_id,
            )
            if others >= MOST_RECORDS:
                raise Conflict(f"There are {MOST_RECORDS} of these, the most there may be.")
            [row] = await connection.fetch(
                "INSERT INTO runtime_memory.client_records AS d (user_id, kind, id, body, created_at, updated_at)"
                " VALUES ($1, $2, $3, $4, $5, $5)"
                " ON CONFLICT (user_id, kind, id) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at"
                " RETURNING d.*",
                person.person,
                kind,
                record_id,
                dict(body),
                now(),
            )
        return _record(row)

    async def get(self, person: Everything, kind: str, record_id: str) -> ClientRecord | None:
        """See the port."""
        async with self._database.connection(person.person) as connection:
            row = await connection.fetchrow(
                "SELECT * FROM runtime_memory.client_records WHERE user_id = $1 AND kind = $2 AND id = $3",
                person.person,
                kind,
                record_id,
            )
        return None if row is None else _record(row)

    async def of(self, person: Everything, kind: str) -> Sequence[ClientRecord]:
        """See the port."""
        async with self._database.connection(person.person) as connection:
            rows = await connection.fetch(
                "SELECT * FROM runtime_memory.client_records WHERE user_id = $1 AND kind = $2 ORDER BY created_at, id",
                person.person,
                kind,
            )
        return [_record(row) for row in rows]

    async def drop(self, person: Everything, kind: str, record_id: str) -> bool:
        """See the port."""
        async with self._database.connection(person.person) as connection:
            dropped = await connection.fetchval(
                "DELETE FROM runtime_memory.client_records WHERE user_id = $1 AND kind = $2 AND id = $3 RETURNING true",
                person.person,
                kind,
                record_id,
            )
        return dropped is True


def _record(row: asyncpg.Record) -> ClientRecord:
    return ClientRecord(row["kind"], row["id"], row["body"], row["created_at"], row["updated_at"])
