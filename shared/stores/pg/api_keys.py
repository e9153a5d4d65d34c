"""API keys in PostgreSQL: `runtime_memory.api_keys`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import asyncpg

from shared.api_keys import MOST_KEYS, ApiKey
from shared.db.pool import EVERYBODY, Database
from shared.errors import Conflict
from shared.scope import Everything


class PostgresApiKeys:
    """The keys of people in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(self, key: ApiKey, digest: bytes) -> None:
        """See the port."""
        async with self._database.transaction(key.owner) as connection:
            # One writer an owner: two requests cannot both take the last place.
            await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 4))", key.owner)
            held = await connection.fetchval(
                "SELECT count(*) FROM runtime_memory.api_keys WHERE user_id = $1", key.owner
            )
            if held >= MOST_KEYS:
                raise Conflict(f"You have {MOST_KEYS} keys, the most there are. Revoke one first.")
            await connection.execute(
                "INSERT INTO runtime_memory.api_keys"
                " (id, user_id, name, agent_id, scopes, digest, created_at, expires_at)"
                " VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                key.id,
                key.owner,
                key.name,
                key.application,
                sorted(key.scopes),
                digest,
                key.created_at,
                key.expires_at,
            )

    async def of(self, owner: Everything) -> Sequence[ApiKey]:
        """See the port."""
        async with self._database.connection(owner.person) as connection:
            rows = await connection.fetch(
                "SELECT * FROM runtime_memory.api_keys WHERE user_id = $1 ORDER BY created_at, id", owner.person
            )
        return [_key(row) for row in rows]

    async def revoke(self, owner: Everything, key_id: str) -> bool:
        """See the port."""
        async with self._database.connection(owner.person) as connection:
            ended = await connection.fetchval(
                "DELETE FROM runtime_memory.api_keys WHERE user_id = $1 AND id = $2 RETURNING true",
                owner.person,
                key_id,
            )
        return ended is True

    async def find(self, key_id: str) -> tuple[ApiKey, bytes] | None:
        """See the port."""
        async with self._database.connection(EVERYBODY) as connection:  # whose it is, the key says
            row = await connection.fetchrow("SELECT * FROM runtime_memory.api_keys WHERE id = $1", key_id)
        return None if row is None else (_key(row), row["digest"])

    async def used(self, key: ApiKey, at: datetime) -> None:
        """See the port."""
        async with self._database.connection(key.owner) as connection:
            await connection.execute(
                "UPDATE runtime_memory.api_keys SET last_used_at = $3 WHERE user_id = $1 AND id = $2",
                key.owner,
                key.id,
                at,
            )


def _key(row: asyncpg.Record) -> ApiKey:
    return ApiKey(
        id=row["id"],
        owner=row["user_id"],
        name=row["name"],
        application=row["agent_id"],
        scopes=frozenset(row["scopes"]),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        last_used_at=row["last_used_at"],
    )
