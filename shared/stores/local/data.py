"""Typed data in the local store: the table `data` and the schemas of its types."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from shared.errors import BadValue, Conflict
from shared.records import By
from shared.scope import Scope
from shared.stores.data import MOST_REVISIONS, MOST_TYPES, DataRevision
from shared.stores.local import receipts
from shared.stores.local.database import Database
from shared.stores.local.overflow import Value, padding
from shared.times import now, stamp

_PINNED = "user_id = ? AND agent_id = ? AND type = ?"


class LocalData:
    """The typed data of people in the directory of a local store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, scope: Scope, type_: str, data: Any, by: By) -> DataRevision:
        """See the port."""

        def job(connection: sqlite3.Connection) -> DataRevision:
            last = _last(connection, scope, type_)
            if last == 0:
                _check_room(connection, scope)
            written = DataRevision(last + 1, data, by.actor, stamp(now()))
            insert(connection, scope, type_, written)
            connection.execute(
                f"DELETE FROM data WHERE {_PINNED} AND revision <= ?",  # noqa: S608 (constant)
                (scope.person, scope.application, type_, written.revision - MOST_REVISIONS),
            )
            return written

        return await self._database.write(job)

    async def get(self, scope: Scope, type_: str) -> Sequence[DataRevision]:
        """See the port."""
        return await self._database.read(lambda connection: revisions(connection, scope, type_))

    async def types(self, scope: Scope) -> Sequence[str]:
        """See the port."""
        rows = await self._database.read(
            lambda connection: connection.execute(
                "SELECT DISTINCT type FROM data WHERE user_id = ? AND agent_id = ? ORDER BY type",
                (scope.person, scope.application),
            ).fetchall()
        )
        return [row[0] for row in rows]

    async def forget(self, scope: Scope, type_: str, by: By) -> int:
        """See the port."""

        def job(connection: sqlite3.Connection) -> int:
            gone = connection.execute(
                f"DELETE FROM data WHERE {_PINNED}",  # noqa: S608 (constant)
                (scope.person, scope.application, type_),
            ).rowcount
            if gone:
                receipts.write(connection, scope, "forget", forgotten=1, by=by, at=now())
            return min(gone, 1)

        return await self._database.forget(job)

    async def schema(self, scope: Scope, type_: str) -> Any:
        """See the port."""
        return await self._database.read(lambda connection: schema(connection, scope, type_))

    async def set_schema(self, scope: Scope, type_: str, schema: Any) -> None:
        """See the port."""

        def job(connection: sqlite3.Connection) -> None:
            connection.execute(
                f"DELETE FROM data_schemas WHERE {_PINNED}",  # noqa: S608 (constant)
                (scope.person, scope.application, type_),
            )
            if schema is not None:
                insert_schema(connection, scope, type_, schema)

        await self._database.forget(job)


def revisions(connection: sqlite3.Connection, scope: Scope, type_: str) -> list[DataRevision]:
    """Every revision of a document, oldest first."""
    rows = connection.execute(
        f"SELECT revision, data, actor, created FROM data WHERE {_PINNED} ORDER BY revision",  # noqa: S608 (constant)
        (scope.person, scope.application, type_),
    )
    return [DataRevision(number, json.loads(data), actor, created) for number, data, actor, created in rows]


def insert(connection: sqlite3.Connection, scope: Scope, type_: str, written: DataRevision) -> None:
    """One revision."""
    plain: list[Value] = [scope.person, scope.application, type_, written.revision, written.actor, written.created]
    text = _text(written.data)
    blank, fill = padding(plain, [text])
    connection.execute(
        "INSERT INTO data (user_id, agent_id, type, revision, actor, created, blank, data, fill)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [*plain, blank, text, fill],
    )


def schema(connection: sqlite3.Connection, scope: Scope, type_: str) -> Any:
    """The schema of a type; None when it has none."""
    row = connection.execute(
        f"SELECT schema FROM data_schemas WHERE {_PINNED}",  # noqa: S608 (constant)
        (scope.person, scope.application, type_),
    ).fetchone()
    return None if row is None else json.loads(row[0])


def insert_schema(connection: sqlite3.Connection, scope: Scope, type_: str, schema: Any) -> None:
    """The schema of a type that has none. Raises Conflict for too many."""
    count = connection.execute(
        "SELECT count(*) FROM data_schemas WHERE user_id = ? AND agent_id = ?", (scope.person, scope.application)
    ).fetchone()[0]
    if count >= MOST_TYPES:
        raise Conflict(f"An application has at most {MOST_TYPES} schemas. Remove one first.")
    plain: list[Value] = [scope.person, scope.application, type_]
    text = _text(schema)
    blank, fill = padding(plain, [text])
    connection.execute(
        "INSERT INTO data_schemas (user_id, agent_id, type, blank, schema, fill) VALUES (?, ?, ?, ?, ?, ?)",
        [*plain, blank, text, fill],
    )


def _last(connection: sqlite3.Connection, scope: Scope, type_: str) -> int:
    row = connection.execute(
        f"SELECT coalesce(max(revision), 0) FROM data WHERE {_PINNED}",  # noqa: S608 (constant)
        (scope.person, scope.application, type_),
    ).fetchone()
    return int(row[0])


def _check_room(connection: sqlite3.Connection, scope: Scope) -> None:
    count = connection.execute(
        "SELECT count(DISTINCT type) FROM data WHERE user_id = ? AND agent_id = ?", (scope.person, scope.application)
    ).fetchone()[0]
    if count >= MOST_TYPES:
        raise Conflict(f"An application keeps at most {MOST_TYPES} types of data. Forget one first.")


def _text(data: Any) -> str:
    try:
        return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError) as error:
        raise BadValue("It holds what cannot be kept.") from error
