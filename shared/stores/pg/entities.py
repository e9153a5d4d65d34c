"""What the memories of a reach are about, counted."""

from __future__ import annotations

from shared.db.collection import Collection
from shared.entities import Entity
from shared.scope import PREFIX, Reach
from shared.stores.pg.conditions import condition
from shared.stores.pg.scopes import Connection

_MOST = 10_000


async def entities(connection: Connection, collection: Collection, reach: Reach) -> list[Entity]:
    """See `MemoryStore.entities`."""
    within, values = condition(reach, None, show_expired=False)
    rows = await connection.fetch(
        collection.sql(
            "WITH mine AS (SELECT user_id, agent_id, payload ->> 'run_id' AS run,"
            " payload ->> 'inner_agent' AS inner_agent,"
            " nullif(created_at, '') AS at FROM {memories} WHERE {within})"
            " SELECT kind, name, count(*) AS total, min(at) AS first_at, max(at) AS last_at FROM ("
            " SELECT 1 AS place, 'user' AS kind, user_id AS name, at FROM mine WHERE inner_agent IS NULL"
            " UNION ALL SELECT 2, 'agent', inner_agent, at FROM mine"
            " UNION ALL SELECT 3, 'app', agent_id, at FROM mine"
            " UNION ALL SELECT 4, 'run', run, at FROM mine"
            ") AS named WHERE name IS NOT NULL GROUP BY place, kind, name"
            ' ORDER BY place, name COLLATE "C" LIMIT {most}',
            within=within,
            most=str(_MOST),
        ),
        *values,
    )
    return [
        Entity(row["kind"], row["name"].removeprefix(PREFIX) if row["kind"] == "app" else row["name"], *list(row)[2:])
        for row in rows
    ]
