"""`LearnQueue` in the store's directory: the one process that owns it has the only workers."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from shared.records import By
from shared.scope import Reach, Scope
from shared.stores import cursor
from shared.stores.local import event_rows, events, scopes
from shared.stores.local.database import Database
from shared.stores.local.event_rows import SHOWN
from shared.stores.local.rows import canonical
from shared.stores.queue import INTERRUPTED, MOST_ATTEMPTS, Claimed, EventPage, LearnEvent, Status
from shared.times import moment, now, stamp

_NEXT = """
SELECT key FROM events AS e
WHERE status = 'PENDING' AND available_at <= ? AND (? IS NULL OR extracts = ?)
    AND NOT EXISTS (
        SELECT 1 FROM events AS earlier
        WHERE earlier.user_id = e.user_id AND earlier.agent_id = e.agent_id
            AND earlier.status IN ('PENDING', 'RUNNING') AND earlier.key < e.key
    )
ORDER BY key LIMIT 1
"""
_MINE = "id = ? AND worker = ? AND status = 'RUNNING'"


class LocalQueue:
    """The queue in the tables `events` and `event_requests`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._opened = stamp(now())
        """Who claimed a learn before that is gone with its process."""

    async def enqueue(
        self,
        scope: Scope,
        request: Mapping[str, Any],
        by: By,
        *,
        extracts: bool,
        idempotency_key: str | None,
        most: int,
    ) -> LearnEvent:
        """See the port."""

        def job(connection: sqlite3.Connection) -> LearnEvent:
            seen = event_rows.seen(connection, scope, idempotency_key)
            if seen is not None:
                return seen
            event_rows.refuse_more(connection, scope, most)
            at = stamp(now())
            row = connection.execute(
                "INSERT INTO events (id, user_id, agent_id, status, extracts, epoch, actor, door, idempotency_key,"  # noqa: S608 (constants)
                " available_at, created_at) VALUES (?, ?, ?, 'PENDING', ?, ?, ?, ?, ?, ?, ?)"
                f" RETURNING key, {SHOWN}",
                (
                    str(uuid.uuid4()),
                    scope.person,
                    scope.application,
                    int(extracts),
                    scopes.epoch(connection, scope),
                    by.actor,
                    by.door,
                    idempotency_key,
                    at,
                    at,
                ),
            ).fetchone()
            events.keep_request(connection, row[0], request)
            return event_rows.event_of(row[1:])

        return await self._database.write(job)

    async def claim(self, worker: str, lease: timedelta, *, extracting: bool | None = None) -> Claimed | None:
        """See the port."""
        wanted = None if extracting is None else int(extracting)

        def candidate(connection: sqlite3.Connection) -> int | None:
            row = connection.execute(_NEXT, (stamp(now()), wanted, wanted)).fetchone()
            return None if row is None else int(row[0])

        def job(connection: sqlite3.Connection) -> Claimed | None:
            key, at = candidate(connection), now()
            if key is None:
                return None
            row = connection.execute(
                "UPDATE events SET status = 'RUNNING', worker = ?, lease_until = ?, claimed_at = ?,"
                " attempts = attempts + 1, error = NULL, note = NULL, started_at = coalesce(started_at, ?)"
                " WHERE key = ? RETURNING id, user_id, agent_id, actor, door, epoch, attempts,"
                " (SELECT request FROM event_requests AS r WHERE r.key = events.key)",
                (worker, stamp(at + lease), stamp(at), stamp(at), key),
            ).fetchone()
            return event_rows.claimed_of(row)

        # Mostly nothing waits: then nothing is written.
        return None if await self._database.read(candidate) is None else await self._database.write(job)

    async def extend(self, event_id: str, worker: str, lease: timedelta) -> bool:
        """See the port."""
        return await self._if_mine("lease_until = ?", event_id, worker, stamp(now() + lease))

    async def note(self, event_id: str, worker: str, note: str) -> None:
        """See the port."""
        await self._if_mine("note = ?", event_id, worker, note)

    async def put_back(self, event_id: str, worker: str, *, after: timedelta, counted: bool = True) -> bool:
        """See the port."""
        change = "status = 'PENDING', worker = NULL, lease_until = NULL, available_at = ?, attempts = attempts - ?"
        return await self._if_mine(change, event_id, worker, stamp(now() + after), 0 if counted else 1)

    async def fail(self, event_id: str, worker: str, sentence: str) -> bool:
        """See the port."""
        return bool(
            await self._database.erase(
                lambda connection: events.finish(
                    connection, _MINE, [event_id, worker], status=Status.FAILED, error=sentence, at=now()
                )
            )
        )

    async def lapse(self) -> int:
        """See the port."""
        left = "status = 'RUNNING' AND (lease_until < ? OR claimed_at < ?)"
        values = [stamp(now()), self._opened]

        def any_left(connection: sqlite3.Connection) -> bool:
            return connection.execute(f"SELECT 1 FROM events WHERE {left}", values).fetchone() is not None  # noqa: S608 (constants)

        def job(connection: sqlite3.Connection) -> int:
            too_often = f"{left} AND attempts >= {MOST_ATTEMPTS}"
            ended = events.finish(connection, too_often, values, status=Status.FAILED, error=INTERRUPTED, at=now())
            again = connection.execute(
                f"UPDATE events SET status = 'PENDING', worker = NULL, lease_until = NULL WHERE {left}",  # noqa: S608 (constants)
                values,
            )
            return ended + again.rowcount

        return await self._database.erase(job) if await self._database.read(any_left) else 0

    async def drop_finished(self, older_than: timedelta) -> int:
        """See the port."""
        until = (stamp(now() - older_than),)

        def any_old(connection: sqlite3.Connection) -> bool:
            return connection.execute("SELECT 1 FROM events WHERE completed_at < ?", until).fetchone() is not None

        def job(connection: sqlite3.Connection) -> int:
            return connection.execute("DELETE FROM events WHERE completed_at < ?", until).rowcount

        return await self._database.write(job) if await self._database.read(any_old) else 0

    async def get(self, reach: Reach, event_id: str) -> LearnEvent | None:
        """See the port."""
        condition, values = scopes.within(reach)

        def job(connection: sqlite3.Connection) -> LearnEvent | None:
            row = connection.execute(
                f"SELECT {SHOWN} FROM events WHERE {condition} AND id = ?",  # noqa: S608 (constants)
                [*values, canonical(event_id)],
            ).fetchone()
            return None if row is None else event_rows.event_of(row)

        return await self._database.read(job)

    async def page(
        self, reach: Reach, *, limit: int, after: str | None = None, status: Status | None = None
    ) -> EventPage:
        """See the port."""
        condition, values = scopes.within(reach)
        if status is not None:
            condition, values = f"{condition} AND status = ?", [*values, status]
        if after is not None:
            at, last = cursor.decode(after)
            at = stamp(moment(at or ""))
            condition += " AND (created_at < ? OR (created_at = ? AND id > ?))"
            values = [*values, at, at, last]

        def job(connection: sqlite3.Connection) -> EventPage:
            rows = connection.execute(
                f"SELECT {SHOWN} FROM events WHERE {condition} ORDER BY created_at DESC, id LIMIT ?",  # noqa: S608 (constants)
                [*values, limit + 1],
            ).fetchall()
            found = [event_rows.event_of(row) for row in rows[:limit]]
            more = len(rows) > limit and found
            return EventPage(found, cursor.encode(stamp(found[-1].created_at), found[-1].id) if more else None)

        return await self._database.read(job)

    async def _if_mine(self, change: str, event_id: str, worker: str, *values: str | int) -> bool:
        def job(connection: sqlite3.Connection) -> bool:
            sql = f"UPDATE events SET {change} WHERE {_MINE}"  # noqa: S608 (constants)
            return connection.execute(sql, [*values, event_id, worker]).rowcount > 0

        return await self._database.write(job)
