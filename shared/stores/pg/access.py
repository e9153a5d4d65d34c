"""The record of accesses in PostgreSQL: `runtime_memory.access`."""

from __future__ import annotations

from collections.abc import Sequence

from shared.access import Access
from shared.db.pool import Database
from shared.scope import Everything, Reach
from shared.stores.pg.scopes import within


class PostgresAccessRecord:
    """The accesses to people's memories in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def note(self, person: Everything, access: Access) -> None:
        """Keep one."""
        async with self._database.connection(person.person) as connection:
            await connection.execute(
                "INSERT INTO runtime_memory.access (user_id, agent_id, actor, verb, door, memories, at)"
                " VALUES ($1, $2, $3, $4, $5, $6, $7)",
                person.person,
                access.application,
                access.actor,
                access.verb,
                access.door,
                access.memories,
                access.at,
            )

    async def accesses(self, reach: Reach, *, limit: int, offset: int = 0) -> Sequence[Access]:
        """See the port."""
        condition, values = within(reach)
        n = len(values)
        async with self._database.connection(reach.person) as connection:
            rows = await connection.fetch(
                f"SELECT agent_id, actor, verb, door, memories, at FROM runtime_memory.access WHERE {condition}"  # noqa: S608 (constants)
                f" ORDER BY at DESC, id DESC LIMIT ${n + 1} OFFSET ${n + 2}",
                *values,
                limit,
                offset,
            )
        return [
            Access(
                actor=row["actor"],
                verb=row["verb"],
                door=row["door"],
                application=row["agent_id"],
                memories=row["memories"],
                at=row["at"],
            )
            for row in rows
        ]
