"""Writes to the memory table that learn and correct: each inside the caller's transaction, under the scope's lock."""

from __future__ import annotations

from collections.abc import Sequence

from shared.payloads import patched
from shared.records import Add, Delete, Event, Memory, Outcome, Patch, Update
from shared.stores.pg import history
from shared.stores.pg.forgetting import forget_rows
from shared.stores.pg.reading import canonical
from shared.stores.pg.scopes import Write
from shared.times import today


async def add(work: Write, adds: Sequence[Add]) -> list[Outcome]:
    """Keep each, but for exact duplicates: the same words in the same run are kept once."""
    known = await _known(work, adds)
    kept: list[Add] = []
    outcomes: list[Outcome] = []
    for one in adds:
        key = (one.payload["hash"], one.payload.get("run_id"))
        if key in known:
            outcomes.append(Outcome(known[key], str(one.payload["data"]), Event.NONE))
            continue
        known[key] = one.id
        kept.append(one)
        outcomes.append(Outcome(one.id, str(one.payload["data"]), Event.ADD))
    identity = {"user_id": work.scope.person, "agent_id": work.scope.application}
    await work.connection.executemany(
        work.collection.sql("INSERT INTO {memories} (id, vector, payload) VALUES ($1, $2, $3)"),
        [(one.id, one.vector, {**one.payload, **identity}) for one in kept],
    )
    await history.write(work, [history.Entry(one.id, Event.ADD, None, str(one.payload["data"])) for one in kept])
    return outcomes


async def _known(work: Write, adds: Sequence[Add]) -> dict[tuple[str, str | None], str]:
    rows = await work.connection.fetch(
        work.collection.sql(
            "SELECT id, hash, payload->>'run_id' AS run_id FROM {memories} WHERE user_id = $1 AND agent_id = $2"
            " AND hash = ANY($3) AND (expires_on IS NULL OR expires_on >= $4)"
        ),
        work.scope.person,
        work.scope.application,
        list({one.payload["hash"] for one in adds}),
        today(),
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


async def rewrite(work: Write, before: Memory, patch: Patch) -> Memory:
    """Apply a patch to a held row, with its history; the same words again write nothing."""
    after = patched(before.payload, patch, work.by, now=work.at)
    if not after.changed:
        return before
    await work.connection.execute(
        work.collection.sql(
            "UPDATE {memories} SET payload = $4, vector = coalesce($5, vector)"
            " WHERE id = $3 AND user_id = $1 AND agent_id = $2"
        ),
        work.scope.person,
        work.scope.application,
        before.id,
        after.payload,
        patch.vector if after.words_changed else None,
    )
    if after.words_changed:
        await history.write(work, [history.Entry(before.id, Event.UPDATE, before.words, str(after.payload["data"]))])
    return Memory(before.id, after.payload)
