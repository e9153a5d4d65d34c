"""The administrator's reads in PostgreSQL: the only statements on memories that are not pinned to the caller."""

from __future__ import annotations

from shared.administration import Stats
from shared.db.collection import Collection
from shared.db.pool import EVERYBODY, Database
from shared.records import Memory, Page
from shared.scope import Reach
from shared.stores.pg import reading


class PostgresAdministration:
    """Reads of anybody's memories in one table."""

    def __init__(self, database: Database, collection: Collection) -> None:
        self._database = database
        self._collection = collection

    async def page(self, reach: Reach, *, limit: int, offset: int = 0) -> Page:
        """One person's memories, expired ones too, newest first."""
        async with self._database.connection(reach.person) as connection:
            return await reading.page(
                connection,
                self._collection,
                reach,
                limit=limit,
                offset=offset,
                after=None,
                where=None,
                show_expired=True,
            )

    async def find(self, memory_id: str) -> Memory | None:
        """A memory by id, whoever's it is; None when unknown or malformed."""
        if (known := reading.canonical(memory_id)) is None:
            return None
        async with self._database.connection(EVERYBODY) as connection:
            row = await connection.fetchrow(
                self._collection.sql("SELECT id, payload FROM {memories} WHERE id = $1"), known
            )
        return None if row is None else reading.memory(row)

    async def stats(self) -> Stats:
        """How much is remembered in all. Distinct persons are walked along the index, one probe each."""
        async with self._database.connection(EVERYBODY) as connection:
            row = await connection.fetchrow(self._collection.sql(_STATS))
        assert row is not None  # noqa: S101  (an aggregate without GROUP BY is one row)
        return Stats(self._collection.name, row["total"], row["persons"], row["applications"])


_STATS = """
WITH RECURSIVE person AS (
    (SELECT user_id FROM {memories} WHERE user_id IS NOT NULL ORDER BY user_id LIMIT 1)
    UNION ALL
    SELECT (SELECT m.user_id FROM {memories} m WHERE m.user_id > person.user_id ORDER BY m.user_id LIMIT 1)
    FROM person WHERE person.user_id IS NOT NULL
)
SELECT (SELECT count(*) FROM {memories}) AS total,
    (SELECT count(user_id) FROM person) AS persons,
    (SELECT count(DISTINCT agent_id) FROM {memories}) AS applications
"""
