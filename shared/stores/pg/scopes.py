"""The scope in SQL: what pins every statement to one person, the lock of a scope, and its epoch."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import asyncpg

from shared.client_records import WEBHOOK
from shared.db.collection import Collection
from shared.records import By
from shared.scope import Everything, Reach, Scope

Connection = asyncpg.pool.PoolConnectionProxy

RAISED = (
    "INSERT INTO runtime_memory.epochs (user_id, agent_id, epoch) VALUES ($1, {application}, 1)"
    " ON CONFLICT (user_id, agent_id) DO UPDATE SET epoch = epochs.epoch + 1"
)


@dataclass(frozen=True, slots=True)
class Write:
    """One write under way: the transaction it stands in, what it is pinned to, who does it and when."""

    connection: Connection
    collection: Collection
    scope: Scope
    by: By
    at: datetime


def within(reach: Reach) -> tuple[str, list[object]]:
    """The condition that every statement on memories carries, on $1 (and $2), and its values."""
    match reach:
        case Scope(person=person, application=application):
            return "user_id = $1 AND agent_id = $2", [person, application]
        case Everything(person=person):
            return "user_id = $1", [person]


async def lock(connection: Connection, reach: Reach) -> bool:
    """Held to the end of the transaction: one writer a scope; all of a person's scopes wait for a person-wide one.

    Whether any webhook is to be told of a change, asked in the same statement: without one a change costs no more.
    """
    held, values = "pg_advisory_xact_lock(hashtextextended($1, 1))", [reach.person, WEBHOOK]
    if isinstance(reach, Scope):
        held = (
            "pg_advisory_xact_lock_shared(hashtextextended($1, 1)),"
            " pg_advisory_xact_lock(hashtextextended($1 || chr(10) || $3, 2))"
        )
        values.append(reach.application)
    listens = "EXISTS (SELECT FROM runtime_memory.client_records WHERE user_id = $1 AND kind = $2)"
    return bool(await connection.fetchval(f"SELECT {listens}, {held}", *values))


async def epoch(connection: Connection, scope: Scope) -> int:
    """The scope's counter and the person's, added: it changes when either is raised."""
    found = await connection.fetchval(
        "SELECT coalesce(sum(epoch), 0)::bigint FROM runtime_memory.epochs WHERE user_id = $1 AND agent_id IN ($2, '')",
        scope.person,
        scope.application,
    )
    return int(found)


async def raise_epoch(connection: Connection, reach: Reach) -> None:
    """From here on, nothing that was accepted before is written."""
    application = reach.application if isinstance(reach, Scope) else ""
    await connection.execute(RAISED.format(application="$2"), reach.person, application)
