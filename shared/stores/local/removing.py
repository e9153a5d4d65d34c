"""Everything of a person removed, table by table, in the caller's transaction."""

from __future__ import annotations

import sqlite3

from shared.client_records import FEEDBACK


def memories(connection: sqlite3.Connection, person: str) -> list[str]:
    """All memories of a person with their history; the ids."""
    gone = connection.execute("DELETE FROM memories WHERE user_id = ? RETURNING id", (person,)).fetchall()
    connection.executemany("DELETE FROM stale WHERE id = ?", gone)
    connection.execute("DELETE FROM history WHERE user_id = ?", (person,))
    return [row[0] for row in gone]


def data(connection: sqlite3.Connection, person: str) -> int:
    """All typed data of a person, and its schemas; how many documents there were."""
    count = connection.execute(
        "SELECT count(*) FROM (SELECT DISTINCT agent_id, type FROM data WHERE user_id = ?)", (person,)
    ).fetchone()[0]
    connection.execute("DELETE FROM data WHERE user_id = ?", (person,))
    connection.execute("DELETE FROM data_schemas WHERE user_id = ?", (person,))
    return int(count)


def feedback(connection: sqlite3.Connection, person: str, memory_ids: list[str]) -> None:
    """What was thought of memories that are no more."""
    connection.executemany(
        "DELETE FROM client_records WHERE user_id = ? AND kind = ? AND id = ?",
        [(person, FEEDBACK, memory_id) for memory_id in memory_ids],
    )


def client_records(connection: sqlite3.Connection, person: str) -> None:
    """What the person's programs keep beside: settings, exports asked for, feedback, webhooks, and their messages."""
    connection.execute("DELETE FROM client_records WHERE user_id = ?", (person,))
    connection.execute("DELETE FROM deliveries WHERE user_id = ?", (person,))
