"""Exact search inside a scope: the best by meaning and the best by keyword, in one statement."""

from __future__ import annotations

import math
from collections.abc import Sequence

import asyncpg

from shared.candidates import Candidate, Candidates
from shared.db.collection import Collection
from shared.filters import Filter
from shared.records import Vector
from shared.scope import Reach
from shared.stores.pg.conditions import condition
from shared.stores.pg.reading import memory
from shared.stores.pg.scopes import Connection
from shared.words import lexemes as lexemes_of

# `+ 0` keeps the planner out of an HNSW index that a stock client left: filtered HNSW loses a person's memories.
# The keyword order is BM25 with each lexeme counted once; the exact count is taken from the words of what is returned.
# In float8: with plain literals it is numeric arithmetic, which took half of the whole statement's time.
# What is found carries what is told of it, and only its runs are put in order, by a hashed set that no estimate turns
# into a loop: before the table was first analysed, joining the scope again took longer than all the rest.
_SEARCH = """
WITH q AS MATERIALIZED (
    SELECT ord, lexeme, CASE WHEN octet_length(lexeme) BETWEEN 1 AND 2046 THEN
        (chr(39) || regexp_replace(lexeme, '([''\\\\])', '\\1\\1', 'g') || chr(39))::tsquery
    END AS query
    FROM unnest({lexemes}::text[]) WITH ORDINALITY AS t(lexeme, ord)
), s AS MATERIALIZED (
    SELECT id, {distance} AS distance, lexemes, length(lexemes) AS length, created_at, payload->>'run_id' AS run_id
    FROM {memories} WHERE {within}
), stats AS (
    SELECT count(*) AS size, coalesce(avg(length), 0)::float8 AS mean FROM s
), hits AS MATERIALIZED (
    SELECT s.id, s.distance, s.length, s.run_id, q.ord FROM s JOIN q ON s.lexemes @@ q.query
), df AS (
    SELECT ord, count(*) AS n FROM hits GROUP BY ord
), keyword AS (
    SELECT id, distance, length, run_id FROM hits JOIN df USING (ord) CROSS JOIN stats
    GROUP BY id, distance, length, run_id
    ORDER BY sum(
        ln(1 + (size - n + 0.5::float8) / (n + 0.5::float8))
        / (1 + 1.2::float8 * (0.6::float8 + 0.4::float8 * length / greatest(mean, 1)))
    ) DESC, id
    LIMIT {limit}
), near AS (
    SELECT id, distance, length, run_id FROM s WHERE distance IS NOT NULL
    ORDER BY distance + 0, created_at DESC, id LIMIT {limit}
), found AS MATERIALIZED (
    SELECT * FROM near UNION SELECT * FROM keyword
), runs AS (
    SELECT id, lag(id) OVER w AS before, lead(id) OVER w AS after FROM s
    WHERE (run_id IN (SELECT run_id FROM found WHERE run_id IS NOT NULL)) IS TRUE
    WINDOW w AS (PARTITION BY run_id ORDER BY created_at, id)
)
SELECT m.id, m.payload, found.distance, found.length, runs.before, runs.after, stats.size, stats.mean,
    (SELECT array_agg(coalesce(n, 0) ORDER BY ord) FROM q LEFT JOIN df USING (ord)) AS frequencies
FROM found JOIN {memories} m USING (id) LEFT JOIN runs USING (id) CROSS JOIN stats
"""


async def candidates(
    connection: Connection,
    collection: Collection,
    reach: Reach,
    *,
    vector: Vector | None,
    lexemes: Sequence[str],
    limit: int,
    where: Filter | None,
    show_expired: bool,
) -> Candidates:
    """See `MemoryStore.candidates`."""
    within, values = condition(reach, where, show_expired=show_expired)
    values += [list(lexemes)]
    sql = collection.sql(
        _SEARCH,
        within=within,
        lexemes=f"${len(values)}",
        distance="NULL::float8" if vector is None else f"vector <=> ${len(values) + 1}",
        limit=str(limit),
    )
    rows = await connection.fetch(sql, *values, *(() if vector is None else (vector,)))
    if not rows:
        return Candidates((), 0, [0] * len(lexemes), 0.0)
    sought = frozenset(lexemes)
    found = [_candidate(row, lexemes, sought) for row in rows]
    return Candidates(found, rows[0]["size"], rows[0]["frequencies"] or [], rows[0]["mean"])


def _candidate(row: asyncpg.Record, lexemes: Sequence[str], sought: frozenset[str]) -> Candidate:
    found = memory(row)
    stored = found.payload.get("text_lemmatized")
    words = stored.split() if isinstance(stored, str) else lexemes_of(found.words)
    there = sought.intersection(words)
    distance, before, after = row["distance"], row["before"], row["after"]
    return Candidate(
        found,
        None if distance is None or math.isnan(distance) else 1.0 - float(distance),
        [words.count(lexeme) if lexeme in there else 0 for lexeme in lexemes] if there else [0] * len(lexemes),
        row["length"],
        () if before is None and after is None else [str(near) for near in (before, after) if near is not None],
    )
