"""`LearnQueue` on PostgreSQL: any number of runtimes share it, and no two run learns of one scope at once."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import asyncpg

from shared.db.pool import EVERYBODY, Database
from shared.errors import TooMany
from shared.records import By, Door, Event
from shared.scope import Reach, Scope
from shared.stores import cursor
from shared.stores.pg import scopes
from shared.stores.pg.reading import canonical
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
from shared.times import moment, stamp

# Waits of a claim on another's row are skipped, never waited for. A learn is eligible when no earlier one of its scope
# is unfinished; two claims that see the same snapshot are kept apart by the index on the one running learn of a scope.
_CLAIM = """
WITH next AS (
    SELECT id FROM runtime_memory.events AS e
    WHERE status = 'PENDING' AND available_at <= now() AND ($3::boolean IS NULL OR extracts = $3)
        AND NOT EXISTS (
            SELECT FROM runtime_memory.events AS earlier
            WHERE earlier.user_id = e.user_id AND earlier.agent_id = e.agent_id
                AND earlier.status IN ('PENDING', 'RUNNING') AND (earlier.created_at, earlier.id) < (e.created_at, e.id)
        )
    ORDER BY created_at, id LIMIT 1 FOR UPDATE SKIP LOCKED
)
UPDATE runtime_memory.events AS claimed
SET status = 'RUNNING', worker = $1, lease_until = now() + $2, attempts = attempts + 1, error = NULL, note = NULL,
    started_at = coalesce(started_at, now())
FROM next WHERE claimed.id = next.id
RETURNING claimed.id, user_id, agent_id, request, actor, door, epoch, attempts
"""

_LAPSE = """
UPDATE runtime_memory.events
SET status = CASE WHEN attempts < $1 THEN 'PENDING' ELSE 'FAILED' END,
    error = CASE WHEN attempts < $1 THEN NULL ELSE $2 END,
    request = CASE WHEN attempts < $1 THEN request END,
    barred = CASE WHEN attempts < $1 THEN barred ELSE '{}' END,
    completed_at = CASE WHEN attempts < $1 THEN NULL ELSE now() END,
    worker = NULL, lease_until = NULL
WHERE status = 'RUNNING' AND lease_until < now()
"""

_SHOWN = "id, user_id, agent_id, status, results, error, note, created_at, started_at, completed_at"


class PostgresQueue:
    """The queue in the table `runtime_memory.events`."""

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
        async with self._database.transaction(scope.person) as connection:
            # Acceptances of a person come one after another: the bound holds, and their times are in their order.
            await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 3))", scope.person)
            if idempotency_key is not None and (seen := await _seen(connection, scope, idempotency_key)) is not None:
                return seen
            await _refuse_more(connection, scope, most)
            row = await connection.fetchrow(
                "INSERT INTO runtime_memory.events"  # noqa: S608 (constants)
                " (id, user_id, agent_id, epoch, request, actor, door, idempotency_key, extracts, created_at,"
                " available_at) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, at, at FROM clock_timestamp() AS at"
                f" RETURNING {_SHOWN}",
                uuid.uuid4(),
                scope.person,
                scope.application,
                await scopes.epoch(connection, scope),
                dict(request),
                by.actor,
                by.door,
                idempotency_key,
                extracts,
            )
            return _event(row)

    async def claim(self, worker: str, lease: timedelta, *, extracting: bool | None = None) -> Claimed | None:
        async with self._database.connection(EVERYBODY) as connection:
            try:
                row = await connection.fetchrow(_CLAIM, worker, lease, extracting)
            except asyncpg.UniqueViolationError:  # another claim was a moment earlier
                return None
        return None if row is None else _claimed(row)

    async def extend(self, learn: Claimed | LearnEvent, worker: str, lease: timedelta) -> bool:
        return await self._if_mine("lease_until = now() + $5", learn, worker, lease)

    async def note(self, learn: Claimed | LearnEvent, worker: str, note: str) -> None:
        await self._if_mine("note = $5", learn, worker, note)

    async def put_back(
        self, learn: Claimed | LearnEvent, worker: str, *, after: timedelta, counted: bool = True
    ) -> bool:
        change = (
            "status = 'PENDING', worker = NULL, lease_until = NULL, available_at = now() + $5,"
            " attempts = attempts - CASE WHEN $6 THEN 0 ELSE 1 END"
        )
        return await self._if_mine(change, learn, worker, after, counted)

    async def fail(self, learn: Claimed | LearnEvent, worker: str, sentence: str) -> bool:
        change = (
            "status = 'FAILED', error = $5, request = NULL, barred = '{}', worker = NULL, lease_until = NULL,"
            " completed_at = now()"
        )
        return await self._if_mine(change, learn, worker, sentence)

    async def lapse(self) -> int:
        async with self._database.connection(EVERYBODY) as connection:
            return _touched(await connection.execute(_LAPSE, MOST_ATTEMPTS, INTERRUPTED))

    async def drop_finished(self, older_than: timedelta) -> int:
        async with self._database.connection(EVERYBODY) as connection:
            done = await connection.execute(
                "DELETE FROM runtime_memory.events WHERE completed_at < now() - $1::interval", older_than
            )
            return _touched(done)

    async def depth(self) -> int:
        async with self._database.connection(EVERYBODY) as connection:
            return int(
                await connection.fetchval(
                    "SELECT count(*) FROM runtime_memory.events WHERE status IN ('PENDING', 'RUNNING')"
                )
            )

    async def get(self, reach: Reach, event_id: str) -> LearnEvent | None:
        if (known := canonical(event_id)) is None:
            return None
        within, values = scopes.within(reach)
        async with self._database.connection(reach.person) as connection:
            row = await connection.fetchrow(
                f"SELECT {_SHOWN} FROM runtime_memory.events WHERE {within} AND id = ${len(values) + 1}",  # noqa: S608 (constants)
                *values,
                known,
            )
        return None if row is None else _event(row)

    async def page(
        self, reach: Reach, *, limit: int, offset: int = 0, after: str | None = None, status: Status | None = None
    ) -> EventPage:
        within, values = scopes.within(reach)
        n = len(values)
        at, last = (None, None) if after is None else _place(after)
        async with self._database.connection(reach.person) as connection:
            rows = await connection.fetch(
                f"SELECT {_SHOWN} FROM runtime_memory.events WHERE {within}"  # noqa: S608 (constants)
                f" AND (${n + 1}::text IS NULL OR status = ${n + 1})"
                f" AND (${n + 2}::timestamptz IS NULL OR created_at < ${n + 2}"
                f" OR (created_at = ${n + 2} AND id > ${n + 3}::uuid))"
                f" ORDER BY created_at DESC, id LIMIT ${n + 4} OFFSET ${n + 5}",
                *values,
                status,
                at,
                last,
                limit + 1,
                offset,
            )
        events = [_event(row) for row in rows[:limit]]
        more = len(rows) > limit and events
        return EventPage(events, cursor.encode(stamp(events[-1].created_at), events[-1].id) if more else None)

    async def count(self, reach: Reach) -> int:
        within, values = scopes.within(reach)
        async with self._database.connection(reach.person) as connection:
            sql = f"SELECT count(*) FROM runtime_memory.events WHERE {within}"  # noqa: S608 (constants)
            return int(await connection.fetchval(sql, *values))

    async def _if_mine(self, change: str, learn: Claimed | LearnEvent, worker: str, *values: object) -> bool:
        async with self._database.connection(learn.scope.person) as connection:
            done = await connection.execute(
                f"UPDATE runtime_memory.events SET {change}"  # noqa: S608 (constants)
                " WHERE user_id = $1 AND agent_id = $2 AND id = $3 AND worker = $4 AND status = 'RUNNING'",
                learn.scope.person,
                learn.scope.application,
                uuid.UUID(learn.id),
                worker,
                *values,
            )
            return bool(_touched(done))


async def _seen(connection: scopes.Connection, scope: Scope, key: str) -> LearnEvent | None:
    row = await connection.fetchrow(
        f"SELECT {_SHOWN} FROM runtime_memory.events WHERE user_id = $1 AND agent_id = $2 AND idempotency_key = $3",  # noqa: S608 (constants)
        scope.person,
        scope.application,
        key,
    )
    return None if row is None else _event(row)


async def _refuse_more(connection: scopes.Connection, scope: Scope, most: int) -> None:
    unfinished = await connection.fetchval(
        "SELECT count(*) FROM runtime_memory.events WHERE user_id = $1 AND status IN ('PENDING', 'RUNNING')",
        scope.person,
    )
    if unfinished >= most:
        raise TooMany(f"{most} learns of this person are waiting: let them end first.", retry_after=5)


def _place(after: str) -> tuple[datetime | None, str]:
    at, last = cursor.decode(after)
    return moment(at or ""), last


def _claimed(row: asyncpg.Record) -> Claimed:
    try:
        by = By(row["actor"], Door(row["door"]))
    except ValueError as error:
        raise UnreadableLearnError(str(row["id"])) from error
    scope = Scope(row["user_id"], row["agent_id"])
    return Claimed(str(row["id"]), scope, row["request"], by, row["epoch"], row["attempts"])


def _event(row: asyncpg.Record | None) -> LearnEvent:
    assert row is not None  # noqa: S101 (an insert returns its row)
    return LearnEvent(
        id=str(row["id"]),
        scope=Scope(row["user_id"], row["agent_id"]),
        status=Status(row["status"]),
        results=[Result(one["id"], Event(one["event"])) for one in row["results"] or ()],
        error=row["error"],
        note=row["note"],
        created_at=row["created_at"],
        started_at=row["started_at"],
        completed_at=row["completed_at"],
    )


def _touched(command: str) -> int:
    return int(command.rsplit(" ", 1)[1])
