"""`LearnQueue` in the local store: one process, so one transaction at a time decides who takes what."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from shared.errors import TooMany
from shared.records import By, Door, Event
from shared.scope import Reach, Scope
from shared.stores import cursor
from shared.stores.local import events, scopes
from shared.stores.local.database import Database
from shared.stores.local.rows import canonical
from shared.stores.queue import (
    INTERRUPTED,
    MOST_ATTEMPTS,
    Claimed,
    EventPage,
    LearnEvent,
    Result,
    Status,
    UnreadableLearnError,
)
from shared.times import moment, now, stamp

# A learn is eligible when no earlier one of its scope is unfinished.
_NEXT = """
SELECT id, user_id, agent_id, actor, door, epoch, attempts FROM events AS e
WHERE status = 'PENDING' AND available_at <= :now AND (:extracting IS NULL OR extracts = :extracting)
    AND NOT EXISTS (
        SELECT 1 FROM events AS earlier
        WHERE earlier.user_id = e.user_id AND earlier.agent_id = e.agent_id
            AND earlier.status IN ('PENDING', 'RUNNING') AND (earlier.created_at, earlier.id) < (e.created_at, e.id)
    )
ORDER BY created_at, id LIMIT 1
"""

_LAPSE = """
UPDATE events
SET status = CASE WHEN attempts < :most THEN 'PENDING' ELSE 'FAILED' END,
    error = CASE WHEN attempts < :most THEN NULL ELSE :interrupted END,
    barred = CASE WHEN attempts < :most THEN barred ELSE '[]' END,
    completed_at = CASE WHEN attempts < :most THEN NULL ELSE :now END,
    worker = NULL, lease_until = NULL
WHERE status = 'RUNNING' AND lease_until < :now
"""

_SHOWN = "id, user_id, agent_id, status, results, error, note, created_at, started_at, completed_at"


class LocalQueue:
    """The queue in the tables `events` and `requests`."""

    def __init__(self, database: Database) -> None:
        self._database = database

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
            if idempotency_key is not None and (seen := _seen(connection, scope, idempotency_key)) is not None:
                return seen
            _refuse_more(connection, scope, most)
            event_id, at = str(uuid4()), stamp(now())
            row = connection.execute(
                "INSERT INTO events (id, user_id, agent_id, epoch, actor, door, idempotency_key, extracts, created_at,"  # noqa: S608 (constant)
                f" available_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING {_SHOWN}",
                (
                    event_id,
                    scope.person,
                    scope.application,
                    scopes.epoch(connection, scope),
                    by.actor,
                    by.door,
                    idempotency_key,
                    extracts,
                    at,
                    at,
                ),
            ).fetchone()
            events.keep_request(connection, event_id, dict(request))
            return _event(row)

        return await self._database.write(job)

    async def claim(self, worker: str, lease: timedelta, *, extracting: bool | None = None) -> Claimed | None:
        """See the port."""
        row = await self._database.write(lambda connection: _claim(connection, worker, lease, extracting=extracting))
        # Read once it is claimed: one that cannot be read is this worker's until its lease ends, not first for ever.
        return None if row is None else _claimed(row)

    async def extend(self, learn: Claimed | LearnEvent, worker: str, lease: timedelta) -> bool:
        """See the port."""
        return await self._if_mine("lease_until = ?", learn, worker, stamp(now() + lease))

    async def note(self, learn: Claimed | LearnEvent, worker: str, note: str) -> None:
        """See the port."""
        await self._if_mine("note = ?", learn, worker, note)

    async def put_back(
        self, learn: Claimed | LearnEvent, worker: str, *, after: timedelta, counted: bool = True
    ) -> bool:
        """See the port."""
        change = "status = 'PENDING', worker = NULL, lease_until = NULL, available_at = ?, attempts = attempts - ?"
        return await self._if_mine(change, learn, worker, stamp(now() + after), 0 if counted else 1)

    async def fail(self, learn: Claimed | LearnEvent, worker: str, sentence: str) -> bool:
        """See the port."""
        change = "status = 'FAILED', error = ?, completed_at = ?, barred = '[]', worker = NULL, lease_until = NULL"

        def job(connection: sqlite3.Connection) -> bool:
            mine = _change_mine(connection, change, learn, worker, [sentence, stamp(now())])
            events.erase_requests(connection)
            return mine

        return await self._database.erase(job)

    async def lapse(self) -> int:
        """See the port."""
        # Asked first: what erases empties the journal, which keeps readers out for a moment, and mostly none lapsed.
        if not await self._database.read(_any_lapsed):
            return 0

        def job(connection: sqlite3.Connection) -> int:
            values = {"most": MOST_ATTEMPTS, "interrupted": INTERRUPTED, "now": stamp(now())}
            lapsed = connection.execute(_LAPSE, values).rowcount
            if lapsed:
                events.erase_requests(connection)
            return lapsed

        return await self._database.erase(job)

    async def drop_finished(self, older_than: timedelta) -> int:
        """See the port."""
        until = stamp(now() - older_than)
        return await self._database.write(
            lambda connection: connection.execute("DELETE FROM events WHERE completed_at < ?", (until,)).rowcount
        )

    async def depth(self) -> int:
        """See the port."""

        def job(connection: sqlite3.Connection) -> int:
            sql = "SELECT count(*) FROM events WHERE status IN ('PENDING', 'RUNNING')"
            return int(connection.execute(sql).fetchone()[0])

        return await self._database.read(job)

    async def get(self, reach: Reach, event_id: str) -> LearnEvent | None:
        """See the port."""
        within, values = scopes.within(reach)

        def job(connection: sqlite3.Connection) -> LearnEvent | None:
            row = connection.execute(
                f"SELECT {_SHOWN} FROM events WHERE id = ? AND {within}",  # noqa: S608 (constants)
                [canonical(event_id), *values],
            ).fetchone()
            return None if row is None else _event(row)

        return await self._database.read(job)

    async def page(
        self, reach: Reach, *, limit: int, offset: int = 0, after: str | None = None, status: Status | None = None
    ) -> EventPage:
        """See the port."""
        within, values = scopes.within(reach)
        at, last = ("9999", "") if after is None else _place(after)

        def job(connection: sqlite3.Connection) -> list[Any]:
            return connection.execute(
                f"SELECT {_SHOWN} FROM events WHERE {within} AND (? IS NULL OR status = ?)"  # noqa: S608 (constants)
                " AND created_at <= ? AND (created_at < ? OR id > ?) ORDER BY created_at DESC, id LIMIT ? OFFSET ?",
                [*values, status, status, at, at, last, limit + 1, offset],
            ).fetchall()

        rows = await self._database.read(job)
        shown = [_event(row) for row in rows[:limit]]
        more = len(rows) > limit and shown
        return EventPage(shown, cursor.encode(stamp(shown[-1].created_at), shown[-1].id) if more else None)

    async def count(self, reach: Reach) -> int:
        """See the port."""
        within, values = scopes.within(reach)
        sql = f"SELECT count(*) FROM events WHERE {within}"  # noqa: S608 (constants)
        return int((await self._database.read(lambda connection: connection.execute(sql, values).fetchone()))[0])

    async def _if_mine(self, change: str, learn: Claimed | LearnEvent, worker: str, *values: object) -> bool:
        return await self._database.write(lambda connection: _change_mine(connection, change, learn, worker, values))


def _any_lapsed(connection: sqlite3.Connection) -> bool:
    sql = "SELECT EXISTS (SELECT 1 FROM events WHERE status = 'RUNNING' AND lease_until < ?)"
    return bool(connection.execute(sql, (stamp(now()),)).fetchone()[0])


def _change_mine(
    connection: sqlite3.Connection, change: str, learn: Claimed | LearnEvent, worker: str, values: Sequence[object]
) -> bool:
    changed = connection.execute(
        f"UPDATE events SET {change}"  # noqa: S608 (constants)
        " WHERE user_id = ? AND agent_id = ? AND id = ? AND worker = ? AND status = 'RUNNING'",
        [*values, learn.scope.person, learn.scope.application, learn.id, worker],
    ).rowcount
    return bool(changed)


def _claim(
    connection: sqlite3.Connection, worker: str, lease: timedelta, *, extracting: bool | None
) -> tuple[Any, ...] | None:
    at = now()
    row = connection.execute(_NEXT, {"now": stamp(at), "extracting": extracting}).fetchone()
    if row is None:
        return None
    event_id = row[0]
    connection.execute(
        "UPDATE events SET status = 'RUNNING', worker = ?, lease_until = ?, attempts = attempts + 1, error = NULL,"
        " note = NULL, started_at = coalesce(started_at, ?) WHERE id = ?",
        (worker, stamp(at + lease), stamp(at), event_id),
    )
    request = connection.execute("SELECT request FROM requests WHERE event_id = ?", (event_id,)).fetchone()
    return (*row, None if request is None else request[0])


def _claimed(row: tuple[Any, ...]) -> Claimed:
    event_id, person, application, actor, door, epoch, attempts, request = row
    try:
        by, said = By(actor, Door(door)), json.loads(request or "")
    except ValueError as error:
        raise UnreadableLearnError(event_id) from error
    return Claimed(event_id, Scope(person, application), said, by, epoch, attempts + 1)


def _seen(connection: sqlite3.Connection, scope: Scope, key: str) -> LearnEvent | None:
    row = connection.execute(
        f"SELECT {_SHOWN} FROM events WHERE user_id = ? AND agent_id = ? AND idempotency_key = ?",  # noqa: S608 (constant)
        (scope.person, scope.application, key),
    ).fetchone()
    return None if row is None else _event(row)


def _refuse_more(connection: sqlite3.Connection, scope: Scope, most: int) -> None:
    (unfinished,) = connection.execute(
        "SELECT count(*) FROM events WHERE user_id = ? AND status IN ('PENDING', 'RUNNING')", (scope.person,)
    ).fetchone()
    if unfinished >= most:
        raise TooMany(f"{most} learns of this person are waiting: let them end first.", retry_after=5)


def _place(after: str) -> tuple[str, str]:
    at, last = cursor.decode(after)
    return stamp(moment(at or "")), last


def _event(row: tuple[Any, ...]) -> LearnEvent:
    event_id, person, application, status, results, error, note, created_at, started_at, completed_at = row
    return LearnEvent(
        id=event_id,
        scope=Scope(person, application),
        status=Status(status),
        results=[Result(one["id"], Event(one["event"])) for one in json.loads(results or "[]")],
        error=error,
        note=note,
        created_at=moment(created_at),
        started_at=_moment(started_at),
        completed_at=_moment(completed_at),
    )


def _moment(text: str | None) -> datetime | None:
    return None if text is None else moment(text)
