"""API keys in the local store's database."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from shared.api_keys import MOST_KEYS, ApiKey
from shared.errors import Conflict
from shared.scope import Everything
from shared.stores.local.database import Database
from shared.times import moment, stamp

_COLUMNS = "id, user_id, name, agent_id, scopes, created_at, expires_at, last_used_at, digest"


class LocalApiKeys:
    """The keys of people in one directory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(self, key: ApiKey, digest: bytes) -> None:
        """See the port."""

        def job(connection: sqlite3.Connection) -> None:
            held = connection.execute("SELECT count(*) FROM api_keys WHERE user_id = ?", (key.owner,)).fetchone()[0]
            if held >= MOST_KEYS:
                raise Conflict(f"You have {MOST_KEYS} keys, the most there are. Revoke one first.")
            connection.execute(
                f"INSERT INTO api_keys ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?)",  # noqa: S608 (constants)
                (
                    key.id,
                    key.owner,
                    key.name,
                    key.application,
                    " ".join(sorted(key.scopes)),
                    stamp(key.created_at),
                    None if key.expires_at is None else stamp(key.expires_at),
                    digest,
                ),
            )

        await self._database.write(job)

    async def of(self, owner: Everything) -> Sequence[ApiKey]:
        """See the port."""

        def job(connection: sqlite3.Connection) -> list[ApiKey]:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM api_keys WHERE user_id = ? ORDER BY created_at, id",  # noqa: S608 (constants)
                (owner.person,),
            )
            return [_key(row) for row in rows]

        return await self._database.read(job)

    async def revoke(self, owner: Everything, key_id: str) -> bool:
        """See the port."""

        def job(connection: sqlite3.Connection) -> bool:
            ended = connection.execute("DELETE FROM api_keys WHERE user_id = ? AND id = ?", (owner.person, key_id))
            return ended.rowcount > 0

        return await self._database.write(job)

    async def find(self, key_id: str) -> tuple[ApiKey, bytes] | None:
        """See the port."""

        def job(connection: sqlite3.Connection) -> tuple[ApiKey, bytes] | None:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM api_keys WHERE id = ?",  # noqa: S608 (constants)
                (key_id,),
            ).fetchone()
            return None if row is None else (_key(row), row[-1])

        return await self._database.read(job)

    async def used(self, key: ApiKey, at: datetime) -> None:
        """See the port."""
        await self._database.write(
            lambda connection: connection.execute(
                "UPDATE api_keys SET last_used_at = ? WHERE user_id = ? AND id = ?", (stamp(at), key.owner, key.id)
            )
        )


def _key(row: Sequence[Any]) -> ApiKey:
    key_id, owner, name, application, scopes, created_at, expires_at, last_used_at, _ = row
    return ApiKey(
        id=key_id,
        owner=owner,
        name=name,
        application=application,
        scopes=frozenset(scopes.split()),
        created_at=moment(created_at),
        expires_at=None if expires_at is None else moment(expires_at),
        last_used_at=None if last_used_at is None else moment(last_used_at),
    )
