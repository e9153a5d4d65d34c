"""`Outbox` in the local store: one process, so one transaction at a time decides what is sent."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

import structlog

from shared.client_records import WEBHOOK
from shared.scope import Reach, Scope
from shared.stores.local.database import Database
from shared.stores.local.scopes import within
from shared.stores.outbox import AT_ONCE, MOST_ATTEMPTS, MOST_WAITING, Delivery, Tell, Told
from shared.times import now, stamp

log = structlog.get_logger()

_FREE = "(lease_until IS NULL OR lease_until < :now)"

# The first row of each webhook, when it is due and nobody has one of its webhook. What a newer version wrote waits.
_DUE = """
WITH due AS (
    SELECT key, available_at, failures > 0 AS failing,
        row_number() OVER (PARTITION BY user_id ORDER BY available_at, key) + (
            SELECT count(*) FROM deliveries AS mine
            WHERE mine.user_id = d.user_id AND mine.worker = :worker AND mine.lease_until >= :now
        ) AS place
    FROM deliveries AS d
    WHERE key IN (SELECT min(key) FROM deliveries GROUP BY user_id, webhook_id)
        AND available_at <= :now AND attempts < :attempts
        AND tell IN (SELECT value FROM json_each(:known)) AND NOT EXISTS (
            SELECT 1 FROM deliveries AS sent
            WHERE sent.user_id = d.user_id AND sent.webhook_id = d.webhook_id AND sent.lease_until >= :now
        )
), turns AS (
    SELECT key, available_at, failing, row_number() OVER (PARTITION BY failing ORDER BY available_at, key) AS turn
    FROM due WHERE place <= :at_once
)
SELECT key FROM turns WHERE NOT failing OR turn <= :failing ORDER BY available_at, key LIMIT :most
"""

_KNOWN = json.dumps([*Tell])

_SHOWN = "key, id, user_id, agent_id, webhook_id, tell, memory_id, attempts, failures"


class LocalOutbox:
    """The outbox in the table `deliveries`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.refused = 0
        self._bell: Callable[[], None] = lambda: None
        self._written = False

    def listen(self, bell: Callable[[], None]) -> None:
        """See the port."""
        self._bell = bell

    def settle(self) -> None:
        """A write has ended: what it left may be sent now."""
        if self._written:
            self._written = False
            self._bell()

    def write(self, connection: sqlite3.Connection, reach: Reach, told: Told, *, of: Iterable[str] = ()) -> None:
        """In the transaction of the change. One application's webhooks hear of it alone: the reach's, or one `of`."""
        application = reach.application if isinstance(reach, Scope) else ""
        for webhook_id, asked in _listening(connection, reach.person, {application, *of}) if told else ():
            wanted = [(tell, memory_id) for tell, memory_id in told if tell in asked]
            room = max(0, MOST_WAITING - _waiting_for(connection, reach.person, webhook_id))
            _insert(connection, (reach.person, application, webhook_id), wanted[:room])
            self._written = True
            if refused := len(wanted[room:]):
                self.refused += refused
                log.warning("webhook.refused", webhook=webhook_id, count=refused)

    async def claim(
        self, worker: str, lease: timedelta, *, most: int, failing: int | None = None
    ) -> Sequence[Delivery]:
        """See the port."""
        values = {"worker": worker, "attempts": MOST_ATTEMPTS, "at_once": AT_ONCE, "most": most, "known": _KNOWN}
        values["failing"] = most if failing is None else failing

        def due(connection: sqlite3.Connection) -> list[int]:
            return [row[0] for row in connection.execute(_DUE, {**values, "now": stamp(now())})]

        def job(connection: sqlite3.Connection) -> list[Delivery]:
            return [
                _delivery(
                    connection.execute(
                        "UPDATE deliveries SET worker = ?, lease_until = ?, attempts = attempts + 1 WHERE key = ?"  # noqa: S608 (constant)
                        f" RETURNING {_SHOWN}",
                        (worker, stamp(now() + lease), key),
                    ).fetchone()
                )
                for key in due(connection)
            ]

        # Asked first: mostly nothing waits, and then nobody who writes is kept waiting.
        return await self._database.write(job) if await self._database.read(due) else []

    async def again(self, delivery: Delivery, worker: str, *, after: timedelta, counted: bool = True) -> None:
        """See the port."""
        uncounted = 0 if counted else 1
        await self._database.write(
            lambda connection: connection.execute(
                "UPDATE deliveries SET worker = NULL, lease_until = NULL, available_at = ?, attempts = attempts - ?,"
                " failures = failures + 1 - ? WHERE key = ? AND worker = ?",
                (stamp(now() + after), uncounted, uncounted, delivery.key, worker),
            )
        )

    async def end(self, delivery: Delivery, worker: str, *, pause: timedelta, failures: int) -> None:
        """See the port."""

        def job(connection: sqlite3.Connection) -> None:
            mine = "DELETE FROM deliveries WHERE key = ? AND worker = ?"
            if connection.execute(mine, (delivery.key, worker)).rowcount:
                connection.execute(
                    "UPDATE deliveries SET available_at = ?, failures = ? WHERE key = ("
                    "SELECT min(key) FROM deliveries WHERE user_id = ? AND webhook_id = ?)",
                    (stamp(now() + pause), failures, delivery.person, delivery.webhook_id),
                )

        await self._database.write(job)

    async def sweep(self, older_than: timedelta) -> int:
        """See the port."""
        old = f"FROM deliveries WHERE (created_at < :until OR attempts >= :attempts) AND {_FREE}"
        at = now()
        values = {"until": stamp(at - older_than), "attempts": MOST_ATTEMPTS, "now": stamp(at)}

        def any_old(connection: sqlite3.Connection) -> bool:
            return bool(connection.execute(f"SELECT EXISTS (SELECT 1 {old})", values).fetchone()[0])

        if not await self._database.read(any_old):
            return 0
        return await self._database.write(lambda connection: connection.execute(f"DELETE {old}", values).rowcount)

    async def waiting(self) -> int:
        """See the port."""
        return await self._database.read(
            lambda connection: int(connection.execute("SELECT count(*) FROM deliveries").fetchone()[0])
        )


def drop(connection: sqlite3.Connection, reach: Reach, memory_ids: Sequence[str] | None) -> None:
    """What waits and is of these memories, or of all within reach; what is being sent ends by itself, unsaid."""
    condition, values = within(reach)
    connection.execute(
        f"DELETE FROM deliveries WHERE {condition} AND (? OR memory_id IN (SELECT value FROM json_each(?)))"  # noqa: S608 (constants)
        " AND (lease_until IS NULL OR lease_until < ?)",
        [*values, memory_ids is None, json.dumps(memory_ids or []), stamp(now())],
    )


def release(connection: sqlite3.Connection) -> None:
    """When the store is opened nobody sends: what a killed process had may be taken at once."""
    connection.execute("UPDATE deliveries SET worker = NULL, lease_until = NULL WHERE lease_until IS NOT NULL")


def _listening(
    connection: sqlite3.Connection, person: str, applications: Iterable[str]
) -> list[tuple[str, frozenset[str]]]:
    """The webhooks that hear of one of these applications, and what each asked for."""
    rows = connection.execute(
        "SELECT id, body FROM client_records WHERE user_id = ? AND kind = ? ORDER BY id", (person, WEBHOOK)
    )
    found = [(webhook_id, json.loads(body)) for webhook_id, body in rows]
    return [
        (webhook_id, frozenset(said.get("event_types", ())))
        for webhook_id, said in found
        if (application := said.get("application")) is None or application in applications
    ]


def _waiting_for(connection: sqlite3.Connection, person: str, webhook_id: str) -> int:
    sql = "SELECT count(*) FROM deliveries WHERE user_id = ? AND webhook_id = ?"
    return int(connection.execute(sql, (person, webhook_id)).fetchone()[0])


def _insert(connection: sqlite3.Connection, whose: tuple[str, str, str], told: Told) -> None:
    at = stamp(now())
    connection.executemany(
        "INSERT INTO deliveries (id, user_id, agent_id, webhook_id, tell, memory_id, created_at, available_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(str(uuid4()), *whose, tell, memory_id, at, at) for tell, memory_id in told],
    )


def _delivery(row: tuple[Any, ...]) -> Delivery:
    key, delivery_id, person, application, webhook_id, tell, memory_id, attempts, failures = row
    return Delivery(key, delivery_id, person, application, webhook_id, Tell(tell), memory_id, attempts, failures)
