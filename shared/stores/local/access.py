"""The record of accesses in the local store."""

from __future__ import annotations

from collections.abc import Sequence

from shared.access import Access
from shared.scope import Everything, Reach
from shared.stores.local.database import Database
from shared.stores.local.scopes import within
from shared.times import moment, stamp


class LocalAccessRecord:
    """The accesses to people's memories in the table `access`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def note(self, person: Everything, access: Access) -> None:
        """Keep one."""
        values = (person.person, access.application, access.actor, access.verb, access.door, access.memories)
        await self._database.write(
            lambda connection: (
                connection.execute(
                    "INSERT INTO access (user_id, agent_id, actor, verb, door, memories, at)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [*values, stamp(access.at)],
                ).rowcount
            )
        )

    async def accesses(self, reach: Reach, *, limit: int, offset: int = 0) -> Sequence[Access]:
        """See the port."""
        condition, values = within(reach)
        rows = await self._database.read(
            lambda connection: connection.execute(
                f"SELECT actor, verb, door, agent_id, memories, at FROM access WHERE {condition}"  # noqa: S608 (constants)
                " ORDER BY at DESC, id DESC LIMIT ? OFFSET ?",
                [*values, limit, offset],
            ).fetchall()
        )
        return [
            Access(actor=actor, verb=verb, door=door, application=application, memories=memories, at=moment(at))
            for actor, verb, door, application, memories, at in rows
        ]
