"""The learn queue as other writes touch it: a learn ends with its memories, and forgetting reaches what is queued."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from shared.errors import ForgottenMeanwhile
from shared.records import Outcome
from shared.scope import Reach, Scope
from shared.stores.barring import FORGOTTEN
from shared.stores.pg.scopes import Connection, within

DROPPED = (
    "status = 'FAILED', error = {error}, request = NULL, barred = '{{}}', lease_until = NULL, worker = NULL,"
    " completed_at = {at}"
)
"""What becomes of a learn that may say again what was forgotten."""


async def barred(connection: Connection, scope: Scope, event_id: str) -> frozenset[str]:
    """Hashes of words forgotten since a learn was accepted. Raises ForgottenMeanwhile when it no longer runs."""
    row = await connection.fetchrow(
        "SELECT barred FROM runtime_memory.events"
        " WHERE user_id = $1 AND agent_id = $2 AND id = $3 AND status = 'RUNNING' FOR UPDATE",
        scope.person,
        scope.application,
        event_id,
    )
    if row is None:
        raise ForgottenMeanwhile(FORGOTTEN)
    return frozenset(row["barred"])


async def end(connection: Connection, scope: Scope, event_id: str, outcomes: Sequence[Outcome], at: datetime) -> None:
    """In the transaction that keeps its memories. The raw messages go; the results name ids, never words."""
    await connection.execute(
        "UPDATE runtime_memory.events SET status = 'SUCCEEDED', results = $4, request = NULL, error = NULL,"
        " lease_until = NULL, worker = NULL, barred = '{}', completed_at = $5"
        " WHERE user_id = $1 AND agent_id = $2 AND id = $3",
        scope.person,
        scope.application,
        event_id,
        [{"id": outcome.id, "event": outcome.event} for outcome in outcomes],
        at,
    )


async def bar(connection: Connection, scope: Scope, hashes: list[str]) -> None:
    """Learns of the scope that were accepted by now do not bring these words back."""
    await connection.execute(
        "UPDATE runtime_memory.events SET barred = barred || $3::text[]"
        " WHERE user_id = $1 AND agent_id = $2 AND status IN ('PENDING', 'RUNNING')",
        scope.person,
        scope.application,
        hashes,
    )


async def drop_unfinished(connection: Connection, reach: Reach, at: datetime) -> None:
    """Learns that were accepted by now write nothing, and their messages are gone."""
    condition, values = within(reach)
    n = len(values)
    dropped = DROPPED.format(error=f"${n + 1}", at=f"${n + 2}")
    await connection.execute(
        f"UPDATE runtime_memory.events SET {dropped} WHERE {condition} AND status IN ('PENDING', 'RUNNING')",  # noqa: S608 (constants)
        *values,
        FORGOTTEN,
        at,
    )
