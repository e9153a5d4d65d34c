"""Upkeep of the memory table in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

from shared.db.collection import Collection
from shared.db.derived import STALE
from shared.db.pool import EVERYBODY, Database
from shared.named import Named, naming
from shared.payloads import WORDS_VERSION
from shared.records import By, Memory, Vector
from shared.scope import Scope
from shared.stores.maintenance import Stale
from shared.stores.pg import scopes, state_rows
from shared.stores.pg.forgetting import forget_rows
from shared.times import now

_FIRST = "00000000-0000-0000-0000-000000000000"


class PostgresMaintenance:
    """`Maintenance` on one memory table."""

    def __init__(self, database: Database, collection: Collection) -> None:
        self._database = database
        self._collection = collection

    async def stale(self, *, after: str, limit: int) -> Sequence[Stale]:
        """See the port. Rows without a person or an application are nobody's: they stay as they are."""
        sql = (
            "SELECT id, payload, user_id, agent_id, vector IS NULL OR payload ? 'vector_of' AS meaning FROM {memories}"
            " WHERE {stale} AND id > $1 AND user_id IS NOT NULL AND agent_id IS NOT NULL AND NOT EXISTS ("
            "SELECT FROM runtime_memory.set_aside AS aside WHERE aside.memory_id = id AND aside.until > now()"
            " AND aside.updated_at IS NOT DISTINCT FROM payload->>'updated_at') ORDER BY id LIMIT $2"
        )
        async with self._database.connection(EVERYBODY) as connection:
            rows = await connection.fetch(self._collection.sql(sql, stale=STALE), after or _FIRST, limit)
        return [
            Stale(Scope(row["user_id"], row["agent_id"]), Memory(str(row["id"]), row["payload"]), row["meaning"])
            for row in rows
        ]

    async def refresh(
        self, stale: Stale, *, lexemes: str, vector: Vector | None, named: Sequence[Named] | None = None
    ) -> bool:
        """See the port: one statement, that changes nothing when the words are others by now."""
        sql = (
            "UPDATE {memories} SET payload = (CASE WHEN $5::vector IS NULL THEN payload ELSE payload - 'vector_of' END)"
            " - $7::text[] || $6, vector = coalesce($5, vector) WHERE user_id = $1 AND agent_id = $2 AND id = $3"
            " AND payload->>'data' IS NOT DISTINCT FROM $4"
        )
        after = {"text_lemmatized": lexemes, "words_version": WORDS_VERSION, **({} if named is None else naming(named))}
        async with self._database.connection(stale.scope.person) as connection:
            done = await connection.execute(
                self._collection.sql(sql),
                stale.scope.person,
                stale.scope.application,
                stale.memory.id,
                stale.memory.payload.get("data"),
                vector,
                {key: value for key, value in after.items() if value is not None},
                [key for key, value in after.items() if value is None],
            )
        return bool(done == "UPDATE 1")

    async def set_aside(self, stale: Stale, *, seconds: float) -> None:
        """See the port."""
        async with self._database.connection(stale.scope.person) as connection:
            await connection.execute(
                "INSERT INTO runtime_memory.set_aside (memory_id, user_id, updated_at, until)"
                " VALUES ($1, $2, $3, now() + make_interval(secs => $4)) ON CONFLICT (memory_id)"
                " DO UPDATE SET updated_at = excluded.updated_at, until = excluded.until",
                stale.memory.id,
                stale.scope.person,
                stale.memory.payload.get("updated_at"),
                seconds,
            )

    async def sweep(self, before: str, by: By, *, limit: int) -> int:
        """See the port: a transaction for each scope, under its lock; what was revived meanwhile stays."""
        sql = (
            "SELECT user_id, agent_id FROM {memories} WHERE expires_on < $1 AND user_id IS NOT NULL"
            " AND agent_id IS NOT NULL LIMIT $2"
        )
        async with self._database.connection(EVERYBODY) as connection:
            # What was not taken up again for so long is of memories that are no more.
            await connection.execute("DELETE FROM runtime_memory.set_aside WHERE until < now() - interval '7 days'")
            await state_rows.sweep(connection)
            rows = await connection.fetch(self._collection.sql(sql), before, limit)
        found = {Scope(row["user_id"], row["agent_id"]) for row in rows}
        return sum([await self._sweep_scope(scope, before, by, limit) for scope in found])

    async def _sweep_scope(self, scope: Scope, before: str, by: By, limit: int) -> int:
        sql = "SELECT id FROM {memories} WHERE user_id = $1 AND agent_id = $2 AND expires_on < $3 LIMIT $4 FOR UPDATE"
        async with self._database.transaction(scope.person) as connection:
            await scopes.lock(connection, scope)
            rows = await connection.fetch(self._collection.sql(sql), scope.person, scope.application, before, limit)
            work = scopes.Write(connection, self._collection, scope, by, now())
            return await forget_rows(work, [str(row["id"]) for row in rows], "expire")
