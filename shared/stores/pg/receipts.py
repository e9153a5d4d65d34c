"""Receipts: that something was forgotten, never what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from shared.records import By, Receipt
from shared.scope import Reach, Scope
from shared.stores.pg.scopes import Connection, within


@dataclass(frozen=True, slots=True)
class Forgot:
    """What a receipt says: by which verb, how many, and which snapshots still hold something of it."""

    verb: str
    count: int
    states: Sequence[UUID] = ()


async def write(connection: Connection, reach: Reach, forgot: Forgot, by: By, at: datetime) -> None:
    """In the transaction of the forgetting itself."""
    await connection.execute(
        "INSERT INTO runtime_memory.receipts (user_id, agent_id, verb, forgotten, actor, door, at, states)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        reach.person,
        reach.application if isinstance(reach, Scope) else None,
        forgot.verb,
        forgot.count,
        by.actor,
        by.door,
        at,
        list(forgot.states),
    )


async def read(connection: Connection, reach: Reach, *, limit: int, offset: int) -> list[Receipt]:
    """Newest first."""
    condition, values = within(reach)
    n = len(values)
    rows = await connection.fetch(
        "SELECT id, agent_id, verb, forgotten, actor, door, at,"  # noqa: S608 (constants)
        " (SELECT count(*) FROM runtime_memory.states s WHERE s.user_id = $1 AND s.id = ANY(receipts.states)) AS held"
        f" FROM runtime_memory.receipts WHERE {condition} ORDER BY at DESC, id LIMIT ${n + 1} OFFSET ${n + 2}",
        *values,
        limit,
        offset,
    )
    return [
        Receipt(
            id=str(row["id"]),
            application=row["agent_id"],
            verb=row["verb"],
            forgotten=row["forgotten"],
            actor=row["actor"],
            door=row["door"],
            at=row["at"],
            held_by_snapshots=row["held"],
        )
        for row in rows
    ]
