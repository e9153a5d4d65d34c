"""Documents in the local store's database."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from shared.documents import MOST_DOCUMENTS, Document
from shared.errors import Conflict
from shared.scope import Everything
from shared.stores.local.database import Database
from shared.times import moment, now, stamp

_COLUMNS = "kind, id, body, created_at, updated_at"


class LocalDocuments:
    """The documents of people in one directory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, person: Everything, kind: str, document_id: str, body: Mapping[str, Any]) -> Document:
        """See the port."""

        def job(connection: sqlite3.Connection) -> Document:
            others = connection.execute(
                "SELECT count(*) FROM documents WHERE user_id = ? AND kind = ? AND id <> ?",
                (person.person, kind, document_id),
            ).fetchone()[0]
            if others >= MOST_DOCUMENTS:
                raise Conflict(f"There are {MOST_DOCUMENTS} of these, the most there may be.")
            at = stamp(now())
            row = connection.execute(
                "INSERT INTO documents (user_id, kind, id, body, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608 (constants)
                " ON CONFLICT (user_id, kind, id) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at"
                f" RETURNING {_COLUMNS}",
                (person.person, kind, document_id, json.dumps(dict(body)), at, at),
            ).fetchone()
            return _document(row)

        return await self._database.write(job)

    async def get(self, person: Everything, kind: str, document_id: str) -> Document | None:
        """See the port."""
        return next((one for one in await self.of(person, kind) if one.id == document_id), None)

    async def of(self, person: Everything, kind: str) -> Sequence[Document]:
        """See the port."""

        def job(connection: sqlite3.Connection) -> list[Document]:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM documents WHERE user_id = ? AND kind = ? ORDER BY created_at, id",  # noqa: S608 (constants)
                (person.person, kind),
            )
            return [_document(row) for row in rows]

        return await self._database.read(job)

    async def drop(self, person: Everything, kind: str, document_id: str) -> bool:
        """See the port."""

        def job(connection: sqlite3.Connection) -> bool:
            dropped = connection.execute(
                "DELETE FROM documents WHERE user_id = ? AND kind = ? AND id = ?", (person.person, kind, document_id)
            )
            return dropped.rowcount > 0

        return await self._database.write(job)


def _document(row: Sequence[str]) -> Document:
    kind, document_id, body, created_at, updated_at = row
    return Document(kind, document_id, json.loads(body), moment(created_at), moment(updated_at))
