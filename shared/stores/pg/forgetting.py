"""Forgetting: the memory and everything derived from it, in the caller's transaction; a receipt stays."""

from __future__ import annotations

from datetime import datetime

from shared.client_records import FEEDBACK
from shared.db.collection import Collection
from shared.errors import GrewMeanwhile
from shared.filters import Filter
from shared.forgotten import Forgotten
from shared.payloads import hash_of
from shared.records import By
from shared.scope import Reach, Scope
from shared.stores.barring import FORGOTTEN
from shared.stores.outbox import Tell
from shared.stores.pg import events
from shared.stores.pg.conditions import condition
from shared.stores.pg.events import DROPPED
from shared.stores.pg.outbox import DROP, DROP_GONE, PostgresOutbox
from shared.stores.pg.reading import count
from shared.stores.pg.scopes import RAISED, Connection, Write, within

# A memory and what is derived of it go in one statement, for each one more is a round trip. The scope's lock was taken
# by an earlier statement: this one sees all that was committed before. The receipt names the snapshots that still hold
# something of it.
_FORGET = """
WITH gone AS (
    DELETE FROM {memories} WHERE {within} RETURNING id, agent_id, payload->>'data' AS words
), history AS (
    DELETE FROM runtime_memory.history WHERE user_id = $1 AND memory_id = ANY(ARRAY(SELECT id FROM gone))
), feedback AS (
    DELETE FROM runtime_memory.client_records
    WHERE user_id = $1 AND kind = '{feedback}' AND id = ANY(ARRAY(SELECT id::text FROM gone))
), aside AS (
    DELETE FROM runtime_memory.set_aside WHERE user_id = $1 AND memory_id = ANY(ARRAY(SELECT id FROM gone))
), marked AS (
    UPDATE runtime_memory.state_memories SET forgotten = true
    WHERE user_id = $1 AND live_id = ANY(ARRAY(SELECT id FROM gone)) RETURNING state_key
), held AS (
    SELECT id FROM runtime_memory.states
    WHERE user_id = $1 AND id IS NOT NULL AND key = ANY(ARRAY(SELECT state_key FROM marked))
), receipt AS (
    INSERT INTO runtime_memory.receipts (user_id, agent_id, verb, forgotten, actor, door, at, states)
    SELECT $1, {application}, {verb}, count(*), {actor}, {door}, {at}, ARRAY(SELECT id FROM held)
    FROM gone HAVING {recorded}
){also}
"""
_OF_SOME = """
SELECT (SELECT count(*) FROM gone) AS forgotten, (SELECT count(*) FROM held) AS held,
    CASE WHEN EXISTS (
        SELECT FROM runtime_memory.events WHERE user_id = $1 AND agent_id = $2 AND status IN ('PENDING', 'RUNNING')
    ) THEN ARRAY(SELECT coalesce(words, '') FROM gone) END AS barred
"""
# Learns in flight may say again what was forgotten; with a filter it cannot be told, so all of them are dropped.
_OF_ALL = """, dropped AS (
    UPDATE runtime_memory.events SET {dropped} WHERE {reach} AND status IN ('PENDING', 'RUNNING')
), raised AS (
    {raised}
), untold AS (
    {untold}
)
SELECT (SELECT count(*) FROM gone) AS forgotten, (SELECT count(*) FROM held) AS held,
    ARRAY(SELECT DISTINCT agent_id FROM gone) AS applications
"""


async def forget_rows(work: Write, ids: list[str], verb: str) -> Forgotten:
    """Some memories of one scope; how many there were."""
    scope, by = work.scope, work.by
    row = await work.connection.fetchrow(
        work.collection.sql(
            _FORGET.replace("{also}", _OF_SOME),
            within="user_id = $1 AND agent_id = $2 AND id = ANY($3::uuid[])",
            feedback=FEEDBACK,
            application="$2",
            verb="$4",
            actor="$5",
            door="$6",
            at="$7",
            recorded="count(*) > 0",
        ),
        scope.person,
        scope.application,
        ids,
        verb,
        by.actor,
        by.door,
        work.at,
    )
    assert row is not None  # noqa: S101 (a row whatever was found)
    if row["barred"]:
        await events.bar(work.connection, scope, [hash_of(words) for words in row["barred"]])
    return Forgotten(row["forgotten"], row["held"])


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
    wanted, values = condition(reach, where, show_expired=True)
    of_reach, _ = within(reach)
    n = len(values)
    row = await connection.fetchrow(
        collection.sql(
            _FORGET.replace("{also}", _OF_ALL),
            within=wanted,
            feedback=FEEDBACK,
            application="$2" if isinstance(reach, Scope) else "NULL",
            verb="'forget_all'",
            actor=f"${n + 1}",
            door=f"${n + 2}",
            at=f"${n + 3}",
            recorded="true",
            dropped=DROPPED.format(error=f"${n + 4}", at=f"${n + 3}"),
            reach=of_reach,
            raised=RAISED.format(application="$2" if isinstance(reach, Scope) else "''"),
            untold=DROP.format(reach=of_reach, some="true" if where is None else DROP_GONE),
        ),
        *values,
        by.actor,
        by.door,
        at,
        FORGOTTEN,
    )
    assert row is not None  # noqa: S101 (a row whatever was found)
    if tell is not None and row["forgotten"]:
        await tell.write(connection, reach, [(Tell.DELETE, None)], of=row["applications"])
    return Forgotten(row["forgotten"], row["held"])
