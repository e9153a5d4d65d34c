"""The second wall: PostgreSQL's row-level security, put up on every table that has a policy of ours."""

from __future__ import annotations

import asyncpg

POLICY = "runtime_memory_person"
"""The policy's name, on each table: made by migrations, and with the memory table."""

_OPEN = """
SELECT c.oid::regclass::text AS name FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
WHERE p.polname = $1 AND NOT (c.relrowsecurity AND c.relforcerowsecurity) ORDER BY 1
"""


async def put_up(connection: asyncpg.Connection) -> None:
    """Enable the policies that are not, for the tables' owner too. Safe from several starters at once.

    One table after the other, each by itself: a service that works meanwhile holds several, and would be waited for.
    """
    for row in await connection.fetch(_OPEN, POLICY):
        await connection.execute(f"ALTER TABLE {row['name']} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
