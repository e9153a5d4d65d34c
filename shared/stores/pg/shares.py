"""Allowances in PostgreSQL: `runtime_memory.shares`, written by the platform only."""

from __future__ import annotations

from collections.abc import Sequence

from shared.db.pool import Database
from shared.errors import Conflict
from shared.scope import Everything
from shared.shares import MOST_SHARES, MOST_SOURCES, Share
from shared.stores.pg.scopes import Connection
from shared.times import now


class PostgresShares:
    """The allowances of people in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def allowed(
        self, person: Everything, *, source: str | None = None, reader: str | None = None
    ) -> Sequence[Share]:
        """Those of a person, of one source, of one reader or of both; oldest first."""
        async with self._database.connection(person.person) as connection:
            return await _select(connection, person, source=source, reader=reader)

    async def allow(self, person: Everything, *, source: str, reader: str) -> Share:
        """Allow; what was allowed before is kept as it was. Raises Conflict when there are too many."""
        async with self._database.transaction(person.person) as connection:
            # One writer a person: two requests cannot both take the last place.
            await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 3))", person.person)
            if found := await _select(connection, person, source=source, reader=reader):
                return found[0]
            await _check_room(connection, person, reader)
            share = Share(source, reader, now())
            await connection.execute(
                "INSERT INTO runtime_memory.shares (user_id, source, reader, allowed_at) VALUES ($1, $2, $3, $4)",
                person.person,
                source,
                reader,
                share.allowed_at,
            )
            return share

    async def stop(self, person: Everything, *, source: str, reader: str) -> bool:
        """Stop sharing; False when it was never allowed."""
        async with self._database.connection(person.person) as connection:
            stopped = await connection.fetchval(
                "DELETE FROM runtime_memory.shares WHERE user_id = $1 AND source = $2 AND reader = $3 RETURNING true",
                person.person,
                source,
                reader,
            )
        return stopped is True


async def _select(connection: Connection, person: Everything, *, source: str | None, reader: str | None) -> list[Share]:
    rows = await connection.fetch(
        "SELECT source, reader, allowed_at FROM runtime_memory.shares WHERE user_id = $1"
        " AND ($2::text IS NULL OR source = $2) AND ($3::text IS NULL OR reader = $3)"
        " ORDER BY allowed_at, source, reader",
        person.person,
        source,
        reader,
    )
    return [Share(row["source"], row["reader"], row["allowed_at"]) for row in rows]


async def _check_room(connection: Connection, person: Everything, reader: str) -> None:
    [row] = await connection.fetch(
        "SELECT count(*) AS every, count(*) FILTER (WHERE reader = $2) AS sources"
        " FROM runtime_memory.shares WHERE user_id = $1",
        person.person,
        reader,
    )
    if row["sources"] >= MOST_SOURCES:
        raise Conflict(f"An application reads at most {MOST_SOURCES} others. Stop sharing with one first.")
    if row["every"] >= MOST_SHARES:
        raise Conflict(f"You have {MOST_SHARES} allowances, the most there are. Stop one first.")
