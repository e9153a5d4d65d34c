"""Everything of a person removed, table by table, in the caller's transaction."""

from __future__ import annotations

from shared.db.collection import Collection
from shared.stores.pg.scopes import Connection


async def memories(connection: Connection, collection: Collection, person: str) -> list[str]:
    """All memories of a person with their history; the ids."""
    rows = await connection.fetch(collection.sql("DELETE FROM {memories} WHERE user_id = $1 RETURNING id"), person)
    await connection.execute("DELETE FROM runtime_memory.history WHERE user_id = $1", person)
    await connection.execute("DELETE FROM runtime_memory.set_aside WHERE user_id = $1", person)
    return [str(row["id"]) for row in rows]


async def data(connection: Connection, person: str) -> int:
    """All typed data of a person, and its schemas; how many documents there were."""
    count = await connection.fetchval(
        "SELECT count(DISTINCT (agent_id, type)) FROM runtime_memory.data WHERE user_id = $1",
        person,
    )
    await connection.execute("DELETE FROM runtime_memory.data WHERE user_id = $1", person)
    await connection.execute("DELETE FROM runtime_memory.data_schemas WHERE user_id = $1", person)
    return int(count)


async def allowances(connection: Connection, person: str) -> int:
    """All allowances of a person; how many there were."""
    gone = await connection.execute("DELETE FROM runtime_memory.shares WHERE user_id = $1", person)
    return int(gone.rpartition(" ")[2])


async def client_records(connection: Connection, person: str) -> None:
    """What the person's programs keep beside: settings, exports asked for, feedback, webhooks, and their messages."""
    await connection.execute("DELETE FROM runtime_memory.client_records WHERE user_id = $1", person)
    # In their order, as a sender touches them.
    await connection.execute(
        "DELETE FROM runtime_memory.deliveries WHERE key = ANY(ARRAY("
        "SELECT key FROM runtime_memory.deliveries WHERE user_id = $1 ORDER BY key FOR UPDATE))",
        person,
    )
