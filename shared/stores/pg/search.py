"""Exact search inside a scope: the best by meaning and the best by keyword, row by row where they are few."""

from __future__ import annotations

from shared.candidates import Candidates
from shared.db.collection import Collection
from shared.db.pool import Database
from shared.filters import Filter
from shared.scope import Reach
from shared.stores.pg import compact
from shared.stores.pg.compact import CompactSearch
from shared.stores.pg.conditions import condition
from shared.stores.pg.found import candidates_of
from shared.stores.pg.scopes import Connection
from shared.stores.pg.sought import Sought

FEW = 800
"""A reach of no more memories is searched row by row: that is faster."""

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
    database: Database,
    collection: Collection,
    reach: Reach,
    sought: Sought,
    *,
    where: Filter | None,
    show_expired: bool,
) -> Candidates:
    """See `MemoryStore.candidates`."""
    looks = compact.serves(sought)
    async with database.connection(reach.person) as connection:
        numbers = await compact.numbers_of_many(connection, collection, reach, sought, FEW) if looks else None
        if numbers is None:
            within, values = condition(reach, where, show_expired=show_expired)
            return await _row_by_row(connection, collection, sought, within, values)
    return await CompactSearch(database, collection, reach, sought, numbers, where, show_expired).candidates()


async def _row_by_row(
    connection: Connection, collection: Collection, sought: Sought, within: str, values: list[object]
) -> Candidates:
    """For any filter: every row of the reach is read."""
    values = [*values, list(sought.lexemes)]
    places = {"lexemes": f"${len(values)}", "distance": "NULL::float8"}
    if sought.vector is not None:
        values.append(sought.vector)
        places["distance"] = f"vector <=> ${len(values)}"
    sql = collection.sql(_SEARCH, within=within, limit=str(sought.limit), **places)
    rows = await connection.fetch(sql, *values)
    if not rows:
        return Candidates((), 0, [0] * len(sought.lexemes), 0.0)
    found = candidates_of(rows, sought.lexemes)
    return Candidates(found, rows[0]["size"], rows[0]["frequencies"] or [], rows[0]["mean"])
