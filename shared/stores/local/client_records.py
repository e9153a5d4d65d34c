"""ClientRecords in the local store's database."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from shared.client_records import MOST_RECORDS, ClientRecord
from shared.errors import Conflict
from shared.scope import Everything
from shared.stores.local.database import Database
from shared.times import moment, now, stamp

_COLUMNS = "kind, id, body, created_at, updated_at"


class LocalClientRecords:
    """The records of people in one directory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, person: Everything, kind: str, record_id: str, body: Mapping[str, Any]) -> ClientRecord:
        """See the port."""

        def job(connection: sqlite3.Connection) -> ClientRecord:
            others = connection.execute(
                "SELECT count(*) FROM client_records WHERE user_id = ? AND kind = ? AND id <> ?",
                (person.person, kind, record_id),
            ).fetchone()[0]
            if others >= MOST_RECORDS:
                raise Conflict(f"There are {MOST_RECORDS} of these, the most there may be.")
            at = stamp(now())
            row = connection.execute(
                "INSERT INTO client_records (user_id, kind, id, body, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608 (constants)
                " ON CONFLICT (user_id, kind, id) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at"
                f" RETURNING {_COLUMNS}",
                (person.person, kind, record_id, json.dumps(dict(body)), at, at),
            ).fetchone()
            return _record(row)

        return await self._database.write(job)

    async def get(self, person: Everything, kind: str, record_id: str) -> ClientRecord | None:
        """See the port."""
        return next((one for one in await self.of(person, kind) if one.id == record_id), None)

    async def of(self, person: Everything, kind: str) -> Sequence[ClientRecord]:
        """See the port."""

        def job(connection: sqlite3.Connection) -> list[ClientRecord]:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM client_records WHERE user_id = ? AND kind = ? ORDER BY created_at, id",  # noqa: S608 (constants)
                (person.person, kind),
            )
            return [_record(row) for row in rows]

        return await self._database.read(job)

    async def drop(self, person: Everything, kind: str, record_id: str) -> bool:
        """See the port."""

        def job(connection: sqlite3.Connection) -> bool:
            dropped = connection.execute(
                "DELETE FROM client_records WHERE user_id = ? AND kind = ? AND id = ?", (person.person, kind, record_id)
            )
            return dropped.rowcount > 0

        return await self._database.write(job)


def _record(row: Sequence[str]) -> ClientRecord:
    kind, record_id, body, created_at, updated_at = row
    return ClientRecord(kind, record_id, json.loads(body), moment(created_at), moment(updated_at))
