"""Typed data in the local store: the tables `data` and `data_schemas`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from shared.errors import Conflict
from shared.records import By
from shared.scope import Scope
from shared.stores.data import MOST_REVISIONS, MOST_TYPES, DataRevision
from shared.stores.local import receipts
from shared.stores.local.database import Database
from shared.stores.local.overflow import Value, padding
from shared.stores.local.rows import json_text
from shared.times import now, stamp

_PINNED = "user_id = ? AND agent_id = ? AND type = ?"


class LocalData:
    """The typed data of people in one directory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, scope: Scope, type_: str, data: Any, by: By) -> DataRevision:
        """See the port."""

        def job(connection: sqlite3.Connection) -> DataRevision:
            last = connection.execute(
                f"SELECT coalesce(max(revision), 0) FROM data WHERE {_PINNED}",  # noqa: S608 (constant)
                _key(scope, type_),
            ).fetchone()[0]
            if last == 0:
                _check_room(connection, scope)
            written = DataRevision(last + 1, data, by.actor, stamp(now()))
            insert(connection, _key(scope, type_), written)
            connection.execute(
                f"DELETE FROM data WHERE {_PINNED} AND revision <= ?",  # noqa: S608 (constant)
                [*_key(scope, type_), written.revision - MOST_REVISIONS],
            )
            return written

        return await self._database.erase(job)

    async def get(self, scope: Scope, type_: str) -> Sequence[DataRevision]:
        """See the port."""
        return await self._database.read(lambda connection: revisions(connection, _key(scope, type_)))

    async def types(self, scope: Scope) -> Sequence[str]:
        """See the port."""
        return await self._database.read(
            lambda connection: [
                row[0]
                for row in connection.execute(
                    "SELECT DISTINCT type FROM data WHERE user_id = ? AND agent_id = ? ORDER BY type",
                    (scope.person, scope.application),
                )
            ]
        )

    async def forget(self, scope: Scope, type_: str, by: By) -> int:
        """See the port."""

        def job(connection: sqlite3.Connection) -> int:
            gone = connection.execute(f"DELETE FROM data WHERE {_PINNED}", _key(scope, type_)).rowcount  # noqa: S608 (constant)
            if not gone:
                return 0
            receipts.write(connection, scope, receipts.Forgot("forget", 1), by=by, at=now())
            return 1

        return await self._database.forget(job)

    async def schema(self, scope: Scope, type_: str) -> Any:
        """See the port."""
        return await self._database.read(lambda connection: schema_of(connection, _key(scope, type_)))

    async def set_schema(self, scope: Scope, type_: str, schema: Any) -> None:
        """See the port."""

        def job(connection: sqlite3.Connection) -> None:
            connection.execute(f"DELETE FROM data_schemas WHERE {_PINNED}", _key(scope, type_))  # noqa: S608 (constant)
            if schema is not None:
                _check_schemas(connection, scope)
                insert_schema(connection, _key(scope, type_), schema)

        await self._database.erase(job)


def insert(connection: sqlite3.Connection, key: Sequence[str], revision: DataRevision) -> None:
    """One revision of a document of a person, an application and a type."""
    plain: list[Value] = [*key, revision.revision, revision.actor, revision.created]
    text = json_text(revision.data)
    blank, fill = padding(plain, [text])
    connection.execute(
        "INSERT INTO data (user_id, agent_id, type, revision, actor, created, blank, data, fill)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [*plain, blank, text, fill],
    )


def insert_schema(connection: sqlite3.Connection, key: Sequence[str], schema: Any) -> None:
    """The schema of a type."""
    text = json_text(schema)
    blank, fill = padding(key, [text])
    connection.execute(
        "INSERT INTO data_schemas (user_id, agent_id, type, blank, schema, fill) VALUES (?, ?, ?, ?, ?, ?)",
        [*key, blank, text, fill],
    )


def revisions(connection: sqlite3.Connection, key: Sequence[str]) -> list[DataRevision]:
    """Every revision of a document, oldest first."""
    rows = connection.execute(
        f"SELECT revision, data, actor, created FROM data WHERE {_PINNED} ORDER BY revision",  # noqa: S608 (constant)
        key,
    )
    return [DataRevision(revision, json.loads(data), actor, created) for revision, data, actor, created in rows]


def schema_of(connection: sqlite3.Connection, key: Sequence[str]) -> Any:
    """The schema of a type; None when it has none."""
    row = connection.execute(f"SELECT schema FROM data_schemas WHERE {_PINNED}", key).fetchone()  # noqa: S608 (constant)
    return None if row is None else json.loads(row[0])


def _key(scope: Scope, type_: str) -> list[str]:
    return [scope.person, scope.application, type_]


def _check_room(connection: sqlite3.Connection, scope: Scope) -> None:
    count = connection.execute(
        "SELECT count(DISTINCT type) FROM data WHERE user_id = ? AND agent_id = ?", (scope.person, scope.application)
    ).fetchone()[0]
    if count >= MOST_TYPES:
        raise Conflict(f"An application keeps at most {MOST_TYPES} types of data. Forget one first.")


def _check_schemas(connection: sqlite3.Connection, scope: Scope) -> None:
    count = connection.execute(
        "SELECT count(*) FROM data_schemas WHERE user_id = ? AND agent_id = ?", (scope.person, scope.application)
    ).fetchone()[0]
    if count >= MOST_TYPES:
        raise Conflict(f"An application has at most {MOST_TYPES} schemas. Remove one first.")
