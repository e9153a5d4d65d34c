"""Forgetting: the memory and everything derived from it, in the caller's transaction; a receipt stays."""

from __future__ import annotations

from datetime import datetime

from shared.db.collection import Collection
from shared.errors import GrewMeanwhile
from shared.filters import Filter
from shared.forgotten import Forgotten
from shared.payloads import hash_of
from shared.records import By
from shared.scope import Reach
from shared.stores.outbox import Tell
from shared.stores.pg import events, history, outbox, receipts, removing, scopes
from shared.stores.pg.conditions import condition
from shared.stores.pg.held import note_forgotten
from shared.stores.pg.outbox import PostgresOutbox
from shared.stores.pg.reading import count
from shared.stores.pg.scopes import Connection, Write


async def forget_rows(work: Write, ids: list[str], verb: str) -> Forgotten:
    """Some memories of one scope; how many there were."""
    connection, scope = work.connection, work.scope
    rows = await connection.fetch(
        work.collection.sql(
            "DELETE FROM {memories} WHERE user_id = $1 AND agent_id = $2 AND id = ANY($3::uuid[])"
            " RETURNING id, payload->>'data' AS words"
        ),
        scope.person,
        scope.application,
        ids,
    )
    if not rows:
        return Forgotten(0)
    gone = [str(row["id"]) for row in rows]
    await history.erase(connection, scope.person, gone)
    await removing.feedback(connection, scope.person, gone)
    await events.bar(connection, scope, [hash_of(row["words"] or "") for row in rows])
    held = await note_forgotten(connection, scope.person, gone)
    await receipts.write(connection, scope, receipts.Forgot(verb, len(rows), held), work.by, work.at)
    return Forgotten(len(rows), len(held))


async def check_confirmed(
    connection: Connection, collection: Collection, reach: Reach, confirmed: int | None, where: Filter | None
) -> None:
    """Raises GrewMeanwhile when more is visible than was confirmed. The scope's lock is held."""
    if confirmed is not None:
        total = await count(connection, collection, reach, where=where, show_expired=False)
        if total > confirmed:
            raise GrewMeanwhile(confirmed, total)


async def forget_all(
    connection: Connection,
    collection: Collection,
    reach: Reach,
    by: By,
    *,
    where: Filter | None,
    at: datetime,
    tell: PostgresOutbox | None,
) -> Forgotten:
    """See `MemoryStore.forget_all`. The scope's lock is held. `tell` where a webhook may be told of it."""
    within, values = condition(reach, where, show_expired=True)
    rows = await connection.fetch(
        collection.sql("DELETE FROM {memories} WHERE {within} RETURNING id, agent_id", within=within), *values
    )
    gone = [str(row["id"]) for row in rows]
    await history.erase(connection, reach.person, gone)
    await removing.feedback(connection, reach.person, gone)
    # Learns in flight may say again what was forgotten; with a filter it cannot be told, so all of them are dropped.
    await events.drop_unfinished(connection, reach, at)
    await scopes.raise_epoch(connection, reach)
    held = await note_forgotten(connection, reach.person, gone)
    await receipts.write(connection, reach, receipts.Forgot("forget_all", len(rows), held), by, at)
    await outbox.drop(connection, reach, None if where is None else gone)
    if tell is not None and rows:
        await tell.write(connection, reach, [(Tell.DELETE, None)], of={row["agent_id"] for row in rows})
    return Forgotten(len(rows), len(held))
