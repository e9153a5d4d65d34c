"""`Outbox` on PostgreSQL: any number of runtimes share it, and each message is one worker's at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta

import asyncpg
import structlog

from shared.client_records import WEBHOOK
from shared.db.pool import EVERYBODY, Database
from shared.scope import Reach, Scope
from shared.stores.outbox import AT_ONCE, MOST_ATTEMPTS, MOST_WAITING, Delivery, Tell, Told
from shared.stores.pg.scopes import Connection

log = structlog.get_logger()

# One row for each webhook that asked for it, in the order of the changes; what is beyond the bound is only counted.
_WRITE = """
WITH wanted AS (
    SELECT w.id AS webhook_id, told.tell, told.memory_id, told.n,
        row_number() OVER (PARTITION BY w.id ORDER BY told.n) + (
            SELECT count(*) FROM runtime_memory.deliveries AS waiting
            WHERE waiting.user_id = w.user_id AND waiting.webhook_id = w.id
        ) AS place
    FROM runtime_memory.client_records AS w
        CROSS JOIN unnest($5::text[], $6::uuid[]) WITH ORDINALITY AS told (tell, memory_id, n)
    WHERE w.user_id = $1 AND w.kind = $3 AND w.body->'event_types' ? told.tell
        AND (w.body->>'application' IS NULL OR w.body->>'application' = ANY($4))
), kept AS (
    INSERT INTO runtime_memory.deliveries (user_id, agent_id, webhook_id, tell, memory_id)
    SELECT $1, $2, webhook_id, tell, memory_id FROM wanted WHERE place <= $7 ORDER BY n
)
SELECT webhook_id, count(*) AS refused FROM wanted WHERE place > $7 GROUP BY webhook_id
"""

# The first row of each webhook is found by one probe each; it is taken when it is due and nobody has one of its
# webhook. Rows that another claim holds are skipped, never waited for. What a newer version wrote is
# left to it.
_CLAIM = """
WITH RECURSIVE first AS (
    (SELECT user_id, webhook_id, key FROM runtime_memory.deliveries ORDER BY user_id, webhook_id, key LIMIT 1)
    UNION ALL
    SELECT following.* FROM first CROSS JOIN LATERAL (
        SELECT d.user_id, d.webhook_id, d.key FROM runtime_memory.deliveries AS d
        WHERE (d.user_id, d.webhook_id) > (first.user_id, first.webhook_id)
        ORDER BY d.user_id, d.webhook_id, d.key LIMIT 1
    ) AS following
), due AS (
    SELECT d.key, d.available_at, d.failures > 0 AS failing,
        row_number() OVER (PARTITION BY d.user_id ORDER BY d.available_at, d.key) + (
            SELECT count(*) FROM runtime_memory.deliveries AS mine
            WHERE mine.user_id = d.user_id AND mine.worker = $1 AND mine.lease_until >= now()
        ) AS place
    FROM first JOIN runtime_memory.deliveries AS d USING (key)
    WHERE d.available_at <= now() AND d.attempts < $3 AND d.tell = ANY($6) AND NOT EXISTS (
        SELECT FROM runtime_memory.deliveries AS sent
        WHERE sent.user_id = d.user_id AND sent.webhook_id = d.webhook_id AND sent.lease_until >= now()
    )
), turns AS (
    SELECT key, available_at, failing, row_number() OVER (PARTITION BY failing ORDER BY available_at, key) AS turn
    FROM due WHERE place <= $4
), taken AS (
    SELECT key FROM runtime_memory.deliveries
    WHERE key = ANY(ARRAY(
        SELECT key FROM turns WHERE NOT failing OR turn <= $7 ORDER BY available_at, key LIMIT $5
    ))
        AND (lease_until IS NULL OR lease_until < now())
    FOR UPDATE SKIP LOCKED
)
UPDATE runtime_memory.deliveries AS claimed
SET worker = $1, lease_until = now() + $2, attempts = attempts + 1
FROM taken WHERE claimed.key = taken.key
RETURNING claimed.*
"""

_END = """
WITH gone AS (
    DELETE FROM runtime_memory.deliveries WHERE key = $1 AND worker = $2 RETURNING user_id, webhook_id
)
UPDATE runtime_memory.deliveries SET available_at = now() + $3, failures = $4
WHERE key = (
    SELECT d.key FROM runtime_memory.deliveries AS d JOIN gone USING (user_id, webhook_id)
    WHERE d.key <> $1 ORDER BY d.key LIMIT 1
)
"""

_SWEEP = """
DELETE FROM runtime_memory.deliveries WHERE key = ANY(ARRAY(
    SELECT key FROM runtime_memory.deliveries
    WHERE (created_at < now() - $1::interval OR attempts >= $2) AND (lease_until IS NULL OR lease_until < now())
    FOR UPDATE SKIP LOCKED
))
"""


DROP = """
DELETE FROM runtime_memory.deliveries WHERE key = ANY(ARRAY(
    SELECT key FROM runtime_memory.deliveries
    WHERE {reach} AND {some} AND (lease_until IS NULL OR lease_until < now()) ORDER BY key FOR UPDATE
))
"""
"""What waits within a reach, as a part of the statement that forgets; what is being sent ends by itself, unsaid.

In its order, in which a sender that ends one touches the next: neither waits for the other in a circle.
"""
DROP_GONE = "memory_id = ANY(ARRAY(SELECT id FROM gone))"


class PostgresOutbox:
    """The outbox in the table `runtime_memory.deliveries`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.refused = 0
        self._bell: Callable[[], None] = lambda: None
        self._written: set[Connection] = set()

    def listen(self, bell: Callable[[], None]) -> None:
        """See the port."""
        self._bell = bell

    def settle(self, connection: Connection) -> None:
        """The transaction on this connection has ended: what it left may be sent now."""
        if connection in self._written:
            self._written.discard(connection)
            self._bell()

    async def write(self, connection: Connection, reach: Reach, told: Told, *, of: Iterable[str] = ()) -> None:
        """In the transaction of the change. One application's webhooks hear of it alone: the reach's, or one `of`."""
        application = reach.application if isinstance(reach, Scope) else ""
        refused = await connection.fetch(
            _WRITE,
            reach.person,
            application,
            WEBHOOK,
            [application, *of],
            [tell for tell, _ in told],
            [memory_id for _, memory_id in told],
            MOST_WAITING,
        )
        self._written.add(connection)
        for row in refused:
            self.refused += row["refused"]
            log.warning("webhook.refused", webhook=row["webhook_id"], count=row["refused"])

    async def claim(
        self, worker: str, lease: timedelta, *, most: int, failing: int | None = None
    ) -> Sequence[Delivery]:
        """See the port."""
        failing = most if failing is None else failing
        async with self._database.connection(EVERYBODY) as connection:
            rows = await connection.fetch(_CLAIM, worker, lease, MOST_ATTEMPTS, AT_ONCE, most, [*Tell], failing)
        return [_delivery(row) for row in rows]

    async def again(self, delivery: Delivery, worker: str, *, after: timedelta, counted: bool = True) -> None:
        """See the port."""
        async with self._database.connection(delivery.person) as connection:
            await connection.execute(
                "UPDATE runtime_memory.deliveries SET worker = NULL, lease_until = NULL, available_at = now() + $3,"
                " attempts = attempts - $4, failures = failures + 1 - $4 WHERE key = $1 AND worker = $2",
                delivery.key,
                worker,
                after,
                0 if counted else 1,
            )

    async def end(self, delivery: Delivery, worker: str, *, pause: timedelta, failures: int) -> None:
        """See the port."""
        async with self._database.connection(delivery.person) as connection:
            await connection.execute(_END, delivery.key, worker, pause, failures)

    async def sweep(self, older_than: timedelta) -> int:
        """See the port."""
        async with self._database.connection(EVERYBODY) as connection:
            done = await connection.execute(_SWEEP, older_than, MOST_ATTEMPTS)
            return int(done.rpartition(" ")[2])

    async def waiting(self) -> int:
        """See the port."""
        async with self._database.connection(EVERYBODY) as connection:
            return int(await connection.fetchval("SELECT count(*) FROM runtime_memory.deliveries"))


def _delivery(row: asyncpg.Record) -> Delivery:
    return Delivery(
        key=row["key"],
        id=str(row["id"]),
        person=row["user_id"],
        application=row["agent_id"],
        webhook_id=row["webhook_id"],
        tell=Tell(row["tell"]),
        memory_id=None if row["memory_id"] is None else str(row["memory_id"]),
        attempt=row["attempts"],
        failures=row["failures"],
    )
