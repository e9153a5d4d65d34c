"""What the memories of a reach are about, counted."""

from __future__ import annotations

import sqlite3

from shared.entities import Entity
from shared.scope import PREFIX, Reach
from shared.stores.local.conditions import condition

_MOST = 10_000


def entities(connection: sqlite3.Connection, reach: Reach) -> list[Entity]:
    """See `MemoryStore.entities`."""
    within, values = condition(reach, None, show_expired=False)
    rows = connection.execute(
        "WITH mine AS (SELECT user_id, agent_id, run_id AS run, json_extract(payload, '$.inner_agent') AS inner_agent,"  # noqa: S608 (constants and placeholders)
        f" nullif(created_at, '') AS at FROM memories WHERE {within})"
        " SELECT kind, name, count(*), min(at), max(at) FROM ("
        " SELECT 1 AS place, 'user' AS kind, user_id AS name, at FROM mine WHERE inner_agent IS NULL"
        " UNION ALL SELECT 2, 'agent', inner_agent, at FROM mine"
        " UNION ALL SELECT 3, 'app', agent_id, at FROM mine"
        " UNION ALL SELECT 4, 'run', run, at FROM mine"
        ") AS named WHERE name IS NOT NULL GROUP BY place, kind, name ORDER BY place, name LIMIT ?",
        [*values, _MOST],
    )
    return [
        Entity(kind, str(name).removeprefix(PREFIX) if kind == "app" else str(name), *rest)
        for kind, name, *rest in rows
    ]
