"""Search of a whole scope in the compact copy that its index is: rows are read of what may be found only.

By meaning, the memories nearest by the short form of their vectors are compared in full. By keyword, a memory's lexemes
are a sparse vector of ones, so that one inner product with powers of two gives the set of the query's lexemes that it
has: how often each stands in the scope, and the best by keyword, follow from these sets exactly.
"""

from __future__ import annotations

from shared.db.collection import Collection
from shared.db.derived import UNSHORT
from shared.scope import Reach
from shared.stores.pg.conditions import condition
from shared.stores.pg.sought import Sought

_EXACT = 400
"""How many of the nearest by short form are compared in full. Measured on 11,813 sentences with 400 questions, the ten
nearest were among the first 106 of each."""
_TIMES = 4
"""The same, for each of more than a hundred that are asked for."""
_MASK = 24
"""Powers of two that a sum in single precision holds; two such sums make a set in a double."""

# Every scan of {memories} is of one index alone, and repeats {within}. What is found is fetched row by row: OFFSET 0
# keeps the planner from joining the rows of all.
_STATS = """
stats AS MATERIALIZED (
    SELECT count(*) AS size, coalesce(sum(length)::float8 / nullif(count(*), 0), 0) AS mean
    FROM {memories} WHERE {within}
)"""
_ROW = """CROSS JOIN LATERAL (
    SELECT id, payload, {distance} AS distance, length, lexemes, run, created_at
    FROM {memories} WHERE id = which.id OFFSET 0
) AS m"""
_NEAR = """
pool AS MATERIALIZED (
    (SELECT id FROM {memories} WHERE {within} AND short IS NOT NULL
        ORDER BY short <~> (SELECT runtime_memory.short_form({vector})), created_at DESC, id LIMIT {exact})
    UNION ALL
    SELECT id FROM {memories} WHERE {within} AND {unshort}
), near AS MATERIALIZED (
    SELECT m.* FROM pool AS which {row} WHERE m.distance IS NOT NULL
    ORDER BY m.distance, m.created_at DESC, m.id LIMIT {limit}
)"""
# The keyword order is BM25 with each lexeme counted once; the exact count is taken from the words of what is returned.
# `long`: what has too many lexemes for the index is looked at itself. Two lexemes may have one number: `others` looks
# again, so that what was found by that of another is no hit.
_WORDS = """
q AS MATERIALIZED (
    SELECT lexeme, ord, dense_rank() OVER (ORDER BY runtime_memory.term(lexeme)) - 1 AS place
    FROM unnest({lexemes}::text[]) WITH ORDINALITY AS t(lexeme, ord)
), sought AS MATERIALIZED (
    SELECT {low} AS low, {high} AS high
    FROM (SELECT DISTINCT place, runtime_memory.term(lexeme) AS term FROM q) AS terms
), seen AS MATERIALIZED (
    SELECT id, length, mask FROM (
        SELECT id, length, coalesce({mask}, -1) AS mask FROM {memories} WHERE {within} OFFSET 0
    ) AS each WHERE mask <> 0
), long AS MATERIALIZED (
    SELECT m.id, m.length, m.mask FROM (SELECT id FROM seen WHERE mask < 0) AS s CROSS JOIN LATERAL (
        SELECT id, length, (
            SELECT sum(DISTINCT 1::bigint << place::integer)::float8 FROM q
            WHERE lexeme = ANY (tsvector_to_array(lexemes))
        ) AS mask FROM {memories} WHERE id = s.id OFFSET 0
    ) AS m WHERE m.mask > 0
), hits AS NOT MATERIALIZED (
    SELECT id, length, mask FROM seen WHERE mask > 0 UNION ALL SELECT id, length, mask FROM long
), masks AS MATERIALIZED (
    SELECT mask, mask::bigint AS bits, count(*) AS many FROM hits GROUP BY mask
), df AS MATERIALIZED (
    SELECT place, sum(many)::bigint AS n FROM masks JOIN (SELECT DISTINCT place FROM q) AS places
        ON bits & (1::bigint << place::integer) <> 0
    GROUP BY place
), weights AS MATERIALIZED (
    SELECT mask, sum(ln(1 + (size - n + 0.5::float8) / (n + 0.5::float8))) AS weight
    FROM masks JOIN q ON bits & (1::bigint << place::integer) <> 0 JOIN df USING (place) CROSS JOIN stats
    GROUP BY mask
), keyword AS (
    SELECT id FROM hits JOIN weights USING (mask) CROSS JOIN stats
    ORDER BY weight / (1 + 1.2::float8 * (0.6::float8 + 0.4::float8 * length / greatest(mean, 1))) DESC, id
    LIMIT {limit}
), others AS (
    SELECT m.* FROM keyword AS which {row}
    WHERE {new} AND tsvector_to_array(m.lexemes) && {lexemes}::text[]
)"""
_SET = "-(terms <#> (SELECT low FROM sought))"
_SETS = f"{_SET} - (terms <#> (SELECT high FROM sought)) * {1 << _MASK}"  # noqa: S608 (constants)
_FOUND = """
found AS ({found})
SELECT m.id, m.payload, m.distance, m.length, stats.size, stats.mean, {frequencies} AS frequencies,
    (SELECT id FROM {memories} WHERE {beside} AND run = m.run AND (created_at, id) < (m.created_at, m.id)
        ORDER BY created_at DESC, id DESC LIMIT 1) AS before,
    (SELECT id FROM {memories} WHERE {beside} AND run = m.run AND (created_at, id) > (m.created_at, m.id)
        ORDER BY created_at, id LIMIT 1) AS after
FROM found AS m CROSS JOIN stats
"""


def serves(sought: Sought) -> bool:
    """Whether this finds what reading every row finds: a vector of zeros is near to nothing, in no order."""
    if sought.vector is None:
        return 0 < len(set(sought.lexemes)) <= 2 * _MASK
    return len(set(sought.lexemes)) <= 2 * _MASK and bool(sought.vector.any())


def statement(collection: Collection, reach: Reach, sought: Sought, *, show_expired: bool) -> tuple[str, list[object]]:
    """The SQL, and its values."""
    within, values = condition(reach, None, show_expired=show_expired)
    looks, found = [_STATS], []
    places = {"distance": "NULL::float8", "frequencies": "ARRAY[]::bigint[]", "new": "TRUE"}
    if sought.vector is not None:
        values.append(sought.vector)
        looks.append(_NEAR)
        found.append("SELECT * FROM near")
        places |= {
            "vector": f"${len(values)}",
            "distance": f"vector <=> ${len(values)}",
            "new": "which.id NOT IN (SELECT id FROM near)",
        }
    if sought.lexemes:
        values.append(list(sought.lexemes))
        looks.append(_WORDS)
        found.append("SELECT * FROM others")
        places |= {
            "lexemes": f"${len(values)}",
            "low": _sparse(f"place < {_MASK}", 0),
            "high": _sparse(f"place >= {_MASK}", _MASK),
            "mask": _SETS if len(set(sought.lexemes)) > _MASK else _SET,
            "frequencies": "(SELECT array_agg(coalesce(n, 0) ORDER BY ord) FROM q LEFT JOIN df USING (place))",
        }
    sql = collection.sql(
        "WITH" + ",".join([*looks, _FOUND]),
        within=within,
        beside=_beside(within),
        found=" UNION ALL ".join(found),
        row=collection.sql(_ROW, distance=places["distance"]),
        unshort=UNSHORT,
        limit=str(sought.limit),
        exact=str(max(_EXACT, _TIMES * sought.limit)),
        **places,
    )
    return sql, values


def _sparse(which: str, first: int) -> str:
    """A query's lexemes of some places, as powers of two."""
    power = f"term || ':' || (1 << place::integer - {first})"
    return f"('{{' || coalesce(string_agg({power}, ',') FILTER (WHERE {which}), '') || '}}/536870912')::sparsevec"


def _beside(within: str) -> str:
    """The reach as a condition that no index is chosen for: in a run, the index of runs is the only good one."""
    return within.replace("user_id =", "user_id || '' =").replace("agent_id =", "agent_id || '' =")
