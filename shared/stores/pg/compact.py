"""Search of a whole reach in the compact copy that its index is: rows are read of what may be found only.

PostgreSQL looks through the copy and answers a few bytes a memory, the halves of a scope at once on connections of
their own. What may be found is worked out from these (`shared.stores.pg.scanned`), read, and compared in full. Every
statement carries the reach, so that what is forgotten between two of them is not found.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

import asyncpg
from pgvector import SparseVector

from shared.candidates import Candidates
from shared.db.collection import Collection
from shared.db.derived import TERMS, UNSHORT
from shared.db.pool import Database
from shared.filters import Filter
from shared.scope import Reach, Scope
from shared.stores.pg.conditions import condition
from shared.stores.pg.found import candidates_of
from shared.stores.pg.scanned import LENGTHS, MASK, ByWords, Nearest, Scanned, places
from shared.stores.pg.scopes import Connection
from shared.stores.pg.sought import Sought

_AT_ONCE = 30_000
"""Memories whose numbers are worked with on the event loop: in a millisecond."""
_HALVES = tuple(f" AND id {side} '80000000-0000-0000-0000-000000000000'" for side in ("<", ">="))
"""Ids are drawn evenly."""

_NUMBERS = """
SELECT CASE WHEN (SELECT count(*) FROM (SELECT FROM {memories} WHERE {within} LIMIT {few} + 1) AS first) > {few} THEN (
    SELECT coalesce(array_agg(runtime_memory.term(lexeme) ORDER BY ord), '{{}}')
    FROM unnest({lexemes}::text[]) WITH ORDINALITY AS t(lexeme, ord)
) END"""
# Without a filter one index alone is read. Bytes are put together: arrays are dearer, and would have to be parsed.
_SCAN = """
SELECT string_agg(uuid_send(id), '') AS ids, {products} AS products,
    string_agg(float8send({apart} * {most}::float8 + length), '') AS apart_and_lengths
FROM {memories} WHERE {within}{part}"""
_APART = "coalesce(short <~> (SELECT runtime_memory.short_form({vector})), -1)"
_PRODUCTS = "string_agg(float8send(coalesce({product}, 1)), '')"
_LONG = """
SELECT string_agg(float8send(coalesce(m.held, 0)), '' ORDER BY ord)
FROM unnest({ids}::uuid[]) WITH ORDINALITY AS which(id, ord) LEFT JOIN LATERAL (
    SELECT (
        SELECT sum(DISTINCT 2::float8 ^ place) FROM unnest({lexemes}::text[], {places}::integer[]) AS q(lexeme, place)
        WHERE lexeme = ANY (tsvector_to_array(lexemes))
    ) AS held FROM {memories} WHERE id = which.id AND {beside} OFFSET 0
) AS m ON TRUE"""
# What is found is fetched row by row: OFFSET 0 keeps the planner from joining the rows of all.
_ROW = """CROSS JOIN LATERAL (
    SELECT payload, {distance} AS distance, length, lexemes, run, created_at
    FROM {memories} WHERE id = which.id AND {beside} OFFSET 0
) AS m"""
_NEAR = """
SELECT id, m.* FROM (
    SELECT id FROM unnest({sure}::uuid[]) AS t(id)
    UNION ALL
    (SELECT id FROM unnest({tied}::uuid[]) AS which(id) {row} ORDER BY created_at DESC, id LIMIT {room})
    UNION ALL
    SELECT id FROM {memories} WHERE {within} AND {unshort}
) AS which {row}
WHERE distance IS NOT NULL ORDER BY distance, created_at DESC, id LIMIT {limit}"""
# Two lexemes may have one number: the row is looked at again, so that what was found by that of another is no hit.
_BY_WORDS = """
SELECT id, m.* FROM unnest({best}::uuid[]) AS which(id) {row} WHERE tsvector_to_array(lexemes) && {lexemes}::text[]"""
_FOUND = """
SELECT id, payload, distance, length,
    (SELECT id FROM {memories} WHERE {beside} AND run = m.run AND (created_at, id) < (m.created_at, m.id)
        ORDER BY created_at DESC, id DESC LIMIT 1) AS before,
    (SELECT id FROM {memories} WHERE {beside} AND run = m.run AND (created_at, id) > (m.created_at, m.id)
        ORDER BY created_at, id LIMIT 1) AS after
FROM ({found}) AS m"""

_T = TypeVar("_T")


def serves(sought: Sought) -> bool:
    """Whether this finds what reading every row finds: a vector of zeros is near to nothing, in no order."""
    if sought.vector is None:
        return 0 < len(set(sought.lexemes)) <= 2 * MASK
    return len(set(sought.lexemes)) <= 2 * MASK and bool(sought.vector.any())


async def numbers_of_many(
    connection: Connection, collection: Collection, reach: Reach, sought: Sought, few: int
) -> list[int] | None:
    """The numbers that the query's lexemes have in the copy; None for a reach of at most `few`, counted no further."""
    within, values = condition(reach, None, show_expired=True)
    sql = collection.sql(_NUMBERS, within=within, few=str(few), lexemes=f"${len(values) + 1}")
    numbers: list[int] | None = await connection.fetchval(sql, *values, list(sought.lexemes))
    return numbers


@dataclass(frozen=True, slots=True)
class CompactSearch:
    """One search of one reach; `numbers` as `numbers_of_many` tells."""

    database: Database
    collection: Collection
    reach: Reach
    sought: Sought
    numbers: list[int]
    where: Filter | None
    show_expired: bool

    async def candidates(self) -> Candidates:
        """See `MemoryStore.candidates`."""
        scanned = Scanned.of(await self._scan())
        if long := scanned.long():
            scanned = scanned.with_sets(await self._sets_of(long))
        if scanned.size > _AT_ONCE:
            nearest, by_words = await asyncio.to_thread(self._may_be_found, scanned)
        else:
            nearest, by_words = self._may_be_found(scanned)
        rows = await self._found(nearest, by_words)
        found = candidates_of(rows, self.sought.lexemes)
        return Candidates(found, scanned.size, by_words.frequencies, scanned.mean_length)

    def _condition(self) -> tuple[str, list[object]]:
        return condition(self.reach, self.where, show_expired=self.show_expired)

    def _may_be_found(self, scanned: Scanned) -> tuple[Nearest, ByWords]:
        limit = self.sought.limit
        return (
            Nearest() if self.sought.vector is None else scanned.nearest(limit),
            scanned.by_words(places(self.numbers), limit),
        )

    async def _scan(self) -> list[asyncpg.Record]:
        """The answers for all parts of the reach."""
        # The index has no order of ids over several applications.
        parts = _HALVES if isinstance(self.reach, Scope) else ("",)
        return await _at_once([self._scan_part(part) for part in parts])

    async def _scan_part(self, part: str) -> asyncpg.Record:
        within, values = self._condition()
        apart, products = "-1", "NULL::bytea"
        if self.sought.vector is not None:
            values.append(self.sought.vector)
            apart = _APART.format(vector=f"${len(values)}")
        if self.numbers:
            low, high = self._powers()
            values.append(low)
            product = f"(terms <#> ${len(values)})"
            if high is not None:
                values.append(high)
                product += f" + (terms <#> ${len(values)}) * {1 << MASK}::float8"
            products = _PRODUCTS.format(product=product)
        sql = self.collection.sql(_SCAN, within=within, part=part, apart=apart, products=products, most=str(LENGTHS))
        async with self.database.connection(self.reach.person) as connection:
            [row] = await connection.fetch(sql, *values)
            return row

    def _powers(self) -> tuple[SparseVector, SparseVector | None]:
        """The query's lexemes as powers of two, in two vectors where one does not hold them."""
        placed = dict(zip(self.numbers, places(self.numbers), strict=True))
        low = {number - 1: 2.0**place for number, place in placed.items() if place < MASK}
        high = {number - 1: 2.0 ** (place - MASK) for number, place in placed.items() if place >= MASK}
        return SparseVector(low, TERMS), SparseVector(high, TERMS) if high else None

    async def _sets_of(self, long: Sequence[UUID]) -> bytes:
        """What has too many lexemes for the index is looked at itself."""
        within, values = self._condition()
        sql = self.collection.sql(_LONG, beside=_beside(within), **_places(values, "ids", "lexemes", "places"))
        async with self.database.connection(self.reach.person) as connection:
            return bytes(await connection.fetchval(sql, *values, long, self.sought.lexemes, places(self.numbers)))

    async def _found(self, nearest: Nearest, by_words: ByWords) -> list[asyncpg.Record]:
        """The rows of what was found either way, each once."""
        reads = []
        if self.sought.vector is not None:
            reads.append(self._read(_NEAR, sure=nearest.sure, tied=nearest.tied, room=nearest.room))
        if by_words.best:
            reads.append(self._read(_BY_WORDS, best=by_words.best, lexemes=self.sought.lexemes))
        rows = {row["id"]: row for found in await _at_once(reads) for row in found}
        return list(rows.values())

    async def _read(self, template: str, **given: object) -> list[asyncpg.Record]:
        within, values = self._condition()
        parts = {"within": within, "beside": _beside(within), "unshort": UNSHORT, "limit": str(self.sought.limit)}
        parts |= _places(values, *given)
        values += given.values()
        parts["distance"] = "NULL::float8"
        if self.sought.vector is not None:
            values.append(self.sought.vector)
            parts["distance"] = f"vector <=> ${len(values)}"
        parts["row"] = self.collection.sql(_ROW, **parts)
        sql = self.collection.sql(_FOUND, found=self.collection.sql(template, **parts), **parts)
        async with self.database.connection(self.reach.person) as connection:
            rows: list[asyncpg.Record] = await connection.fetch(sql, *values)
            return rows


async def _at_once(several: Sequence[Coroutine[None, None, _T]]) -> list[_T]:
    """Their results. Each takes a connection for itself, and waits for no other while it has one."""
    if len(several) < 2:
        return [await one for one in several]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in several]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]


def _places(values: list[object], *names: str) -> dict[str, str]:
    """The places of more values after these."""
    return {name: f"${at}" for at, name in enumerate(names, len(values) + 1)}


def _beside(within: str) -> str:
    """The reach as a condition that no index is chosen for: the index of ids, or of runs, is the only good one."""
    return within.replace("user_id =", "user_id || '' =").replace("agent_id =", "agent_id || '' =")
