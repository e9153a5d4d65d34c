"""Writes to the memory table that learn and correct: each inside the caller's transaction, under the scope's lock."""

from __future__ import annotations

from collections.abc import Sequence

from shared.db.pool import array_of
from shared.payloads import patched
from shared.records import Add, Delete, Event, Memory, Outcome, Patch, Update
from shared.stores.pg.forgetting import forget_rows
from shared.stores.pg.reading import canonical
from shared.stores.pg.scopes import Write
from shared.times import today

# One statement, for each one more is a round trip. The scope's lock was taken by an earlier one: what this one does not
# see as known is not there.
_ADD = """
WITH given AS (
    SELECT * FROM unnest($3::uuid[], $4::vector[], $5::jsonb[], $6::text[], $7::text[])
        AS t (id, vector, payload, hash, run_id)
), known AS MATERIALIZED (
    SELECT id, hash, payload->>'run_id' AS run_id FROM {memories}
    WHERE user_id = $1 AND agent_id = $2 AND hash = ANY($6) AND (expires_on IS NULL OR expires_on >= $8)
), kept AS (
    INSERT INTO {memories} (id, vector, payload)
    SELECT id, vector, payload FROM given WHERE NOT EXISTS (
        SELECT FROM known WHERE known.hash = given.hash AND known.run_id IS NOT DISTINCT FROM given.run_id
    ) RETURNING id, payload->>'data' AS words
), noted AS (
    INSERT INTO runtime_memory.history
        (memory_id, user_id, agent_id, event, old_words, new_words, actor, door, at)
    SELECT id, $1, $2, 'ADD', NULL, words, $9, $10, $11 FROM kept
)
SELECT id, hash, run_id FROM known
"""


async def add(work: Write, adds: Sequence[Add]) -> list[Outcome]:
    """Keep each, but for exact duplicates: the same words in the same run are kept once."""
    first: dict[_Words, Add] = {}
    for one in adds:
        first.setdefault(_words(one), one)
    known = await _keep(work, list(first.values()))
    ids = {words: one.id for words, one in first.items()} | known
    return [
        Outcome(one.id, str(one.payload["data"]), Event.ADD)
        if first[words] is one and words not in known
        else Outcome(ids[words], str(one.payload["data"]), Event.NONE)
        for one, words in ((one, _words(one)) for one in adds)
    ]


_Words = tuple[str, str | None]
"""What tells an exact duplicate: the hash of the words, and the run."""


def _words(one: Add) -> _Words:
    return one.payload["hash"], one.payload.get("run_id")


async def _keep(work: Write, adds: Sequence[Add]) -> dict[_Words, str]:
    """Those that are not known; the ids of those that are."""
    identity = {"user_id": work.scope.person, "agent_id": work.scope.application}
    rows = await work.connection.fetch(
        work.collection.sql(_ADD),
        work.scope.person,
        work.scope.application,
        [one.id for one in adds],
        array_of([one.vector for one in adds]),
        [{**one.payload, **identity} for one in adds],
        [one.payload["hash"] for one in adds],
        [one.payload.get("run_id") for one in adds],
        today(),
        work.by.actor,
        work.by.door,
        work.at,
    )
    return {(row["hash"], row["run_id"]): str(row["id"]) for row in rows}


async def update(work: Write, change: Update) -> Outcome | None:
    """New words by a learn; None for an id that is not in the scope, or is immutable."""
    patch = Patch(
        words=change.words,
        lexemes=change.lexemes,
        vector=change.vector,
        payload=dict(change.metadata),
        correction=False,
    )
    before = await locked(work, change.id)
    if before is None or before.immutable:
        return None
    after = await rewrite(work, before, patch)
    return Outcome(before.id, after.words, Event.UPDATE if after.words != before.words else Event.NONE, before.words)


async def delete(work: Write, change: Delete) -> Outcome | None:
    """Forgotten by a learn; None for an id that is not in the scope, or is immutable."""
    before = await locked(work, change.id)
    if before is None or before.immutable:
        return None
    await forget_rows(work, [before.id], "forget")
    return Outcome(before.id, "", Event.DELETE)


async def locked(work: Write, memory_id: str) -> Memory | None:
    """One memory of the scope, its row held to the end of the transaction."""
    if (known := canonical(memory_id)) is None:
        return None
    row = await work.connection.fetchrow(
        work.collection.sql(
            "SELECT id, payload FROM {memories} WHERE id = $3 AND user_id = $1 AND agent_id = $2 FOR UPDATE"
        ),
        work.scope.person,
        work.scope.application,
        known,
    )
    return None if row is None else Memory(str(row["id"]), row["payload"])


_REWRITE = """
WITH changed AS (
    UPDATE {memories} SET payload = $4, vector = coalesce($5, vector)
    WHERE id = $3 AND user_id = $1 AND agent_id = $2 RETURNING id
)
INSERT INTO runtime_memory.history (memory_id, user_id, agent_id, event, old_words, new_words, actor, door, at)
SELECT id, $1, $2, 'UPDATE', $7, $8, $9, $10, $11 FROM changed WHERE $6
"""


async def rewrite(work: Write, before: Memory, patch: Patch) -> Memory:
    """Apply a patch to a held row, with its history; the same words again write nothing."""
    after = patched(before.payload, patch, work.by, now=work.at)
    if not after.changed:
        return before
    await work.connection.execute(
        work.collection.sql(_REWRITE),
        work.scope.person,
        work.scope.application,
        before.id,
        after.payload,
        patch.vector if after.words_changed else None,
        after.words_changed,
        before.words,
        str(after.payload.get("data") or ""),
        work.by.actor,
        work.by.door,
        work.at,
    )
    return Memory(before.id, after.payload)
