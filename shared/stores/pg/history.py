"""The history of memories: who changed what, when, through which door."""

from __future__ import annotations

from shared.records import Event, Revision, revision_id
from shared.scope import Reach
from shared.stores.pg.scopes import Connection, within


async def read(connection: Connection, reach: Reach, memory_id: str) -> list[Revision]:
    """Oldest first."""
    condition, values = within(reach)
    rows = await connection.fetch(
        "SELECT memory_id, user_id, agent_id, event, old_words, new_words, actor, door, at"  # noqa: S608 (constant)
        f" FROM runtime_memory.history WHERE {condition} AND memory_id = ${len(values) + 1} ORDER BY id",
        *values,
        memory_id,
    )
    return [
        Revision(
            id=revision_id(str(row["memory_id"]), place),
            memory_id=str(row["memory_id"]),
            event=Event(row["event"]),
            old_words=row["old_words"],
            new_words=row["new_words"],
            person=row["user_id"],
            application=row["agent_id"],
            actor=row["actor"],
            door=row["door"],
            at=row["at"],
        )
        for place, row in enumerate(rows)
    ]
