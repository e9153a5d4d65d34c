"""A filter finds the same memories in PostgreSQL, in SQLite and in Python, whatever the tree and the rows."""

from __future__ import annotations

import asyncio
import json
import secrets
import sqlite3
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.db.collection import Collection, prepare
from shared.db.embedded import ROLE, EmbeddedServer
from shared.db.migrate import migrate, read_migrations
from shared.filter_grammar import DEEPEST, MOST_CONDITIONS, parse
from shared.filter_matching import matches
from shared.filters import (
    All,
    Among,
    Between,
    Contains,
    Equals,
    Filter,
    Holds,
    Named,
    Not,
    Present,
    Some,
    fold,
)
from shared.stamps import utc_date, utc_stamp
from shared.stores.local.filters import condition as in_sqlite
from shared.stores.local.filters import register
from shared.stores.pg.filters import condition as in_postgres

Row = tuple[str, Mapping[str, Any]]

# Few and close together, so that conditions meet rows (a test below holds this to account); hostile, so that quoting
# and types are met too.
OURS = ["user_id", "inner_agent", "agent_id", "run_id", "data", "categories"]
CLIENTS = ["colour", "$.x", 'q"uo\\te', "é"]
TEXTS = ["ana", "ANA", "app:ana", "Σας", "ΣΑΣ", "İi", "1", "true", "'; --", '"[😀]']
NUMBERS = [0, 1, 1.0, 0.1, -0.0, 2**53]
TIMES = [
    "2026-03-05T12:00:00.000000+00:00", "2026-03-05T12:00:00.000001Z", "2026-03-05 12:00:00", "2026-03-05T14:00:00.5+02:00",
    "2026-03-05T23:30:00-02:00", "2026-03-06T00:00:00+14:59", "2026-03-05", "2026-12-31", "2026-02-30T10:00:00Z",
    "2026-03-05T10:00:00+25:00", "20260305T100000Z", "soon", "2026-03-05T12:00:00.1234567Z", "٢٠٢٦-03-05", "2026-03-05T12:00:00Z\n",
]  # fmt: skip
IDS = [str(uuid.UUID(int=n)) for n in range(1, 7)]

rare = st.text(st.characters(codec="utf-8", exclude_characters="\x00", max_codepoint=0x17F), max_size=4)
numbers = st.sampled_from(NUMBERS)
texts = st.integers(0, 15).flatmap(lambda n: rare if n == 0 else st.sampled_from(TEXTS))
scalars = texts | numbers | st.booleans()
odd = st.sampled_from([None, 2**60, 2**70, -(2**63), 1e300, 0.30000000000000004, "", {"colour": "ana"}, [], *TIMES])
lists = st.lists(scalars, min_size=2, max_size=3) | st.lists(
    scalars | st.sampled_from([None, ["ana", 1], {"ana": 1}]), max_size=3
)
values = st.one_of(texts, scalars, odd, lists, lists)
keys = st.sampled_from(OURS + CLIENTS)
readable = st.sampled_from([one for one in TIMES if utc_stamp(one)] + ["2026-12-31"])
times = readable | st.sampled_from(TIMES) | odd
absent = object()
payloads = st.fixed_dictionaries(
    dict.fromkeys(OURS + CLIENTS, values | st.just(absent))
    | dict.fromkeys(["created_at", "updated_at", "expiration_date"], times | st.just(absent))
).map(lambda payload: {key: value for key, value in payload.items() if value is not absent})
rows = st.lists(payloads, min_size=4, max_size=len(IDS)).map(lambda some: list(zip(IDS, some, strict=False)))

some_scalars = st.lists(scalars, min_size=1, max_size=3).map(tuple)
bounds = st.none() | st.sampled_from(
    ["2026-03-05", "2026-03-06", "2026-03-05T12:00:00.000001+00:00", "2026-03-05T21:00:00.000000+00:00"]
)
leaves = st.one_of(
    st.builds(Equals, keys, some_scalars),
    st.builds(Present, keys),
    st.builds(Holds, keys, some_scalars),
    st.builds(Contains, keys, texts.filter(bool)),
    st.builds(lambda key, text: Contains(key, fold(text), fold=True), keys, texts.filter(bool)),
    st.builds(Between, st.sampled_from(["created_at", "updated_at", "expiration_date"]), bounds, bounds),
    st.builds(Among, st.lists(st.sampled_from(IDS), max_size=3).map(tuple)),
)
trees = st.recursive(
    leaves,
    lambda inner: (
        st.builds(All, st.lists(inner, max_size=3).map(tuple))
        | st.builds(Some, st.lists(inner, max_size=3).map(tuple))
        | st.builds(Not, inner)
    ),
    max_leaves=12,
)

ids = texts.filter(lambda text: text and not text.startswith("app:"))
entity = st.one_of(
    ids,
    st.fixed_dictionaries({}, optional={"eq": ids, "ne": ids, "in": st.lists(ids, max_size=3), "*": st.just(1)}).filter(
        bool
    ),
)
when = st.sampled_from([one for one in TIMES if utc_stamp(one)] + ["2026-03-05", "2026-03-06T00:00:00Z"]) | st.just(
    1_772_712_000
)
clock = (
    st.fixed_dictionaries({}, optional=dict.fromkeys(("gt", "gte", "lt", "lte", "eq", "ne"), when)).filter(bool) | when
)
members = {
    **dict.fromkeys(("user_id", "agent_id", "app_id", "run_id", "userId"), entity),
    **dict.fromkeys(("created_at", "updated_at", "timestamp", "expiration_date"), clock),
    "categories": st.dictionaries(st.sampled_from(["eq", "ne", "contains", "icontains"]), ids, min_size=1),
    "keywords": st.dictionaries(st.sampled_from(["contains", "icontains"]), ids, min_size=1),
    "metadata": st.dictionaries(
        keys,
        scalars | st.dictionaries(st.sampled_from(["eq", "ne", "contains"]), ids | st.booleans(), min_size=1),
        min_size=1,
        max_size=2,
    ),
    "memory_ids": st.lists(st.sampled_from(IDS), max_size=3),
}
client_filters = st.recursive(
    st.sampled_from(sorted(members)).flatmap(lambda key: members[key].map(lambda value: {key: value})),
    lambda inner: (
        st.builds(lambda some: {"AND": some}, st.lists(inner, min_size=1, max_size=3))
        | st.builds(lambda some: {"OR": some}, st.lists(inner, min_size=1, max_size=3))
        | st.builds(lambda one: {"NOT": one}, inner)
        | st.builds(lambda one, other: {**one, **other}, inner, inner)
    ),
    max_leaves=10,
)


class Engines:
    """The three of them, over the same rows."""

    def __init__(self, runner: asyncio.Runner, pg: asyncpg.Connection, local: sqlite3.Connection) -> None:
        self.runner, self.pg, self.local = runner, pg, local

    def found(self, wheres: Sequence[Filter], rows: Sequence[Row]) -> list[list[set[str]]]:
        """What each filter finds: in Python, in PostgreSQL and in SQLite."""
        python = [{memory_id for memory_id, payload in rows if matches(one, payload, memory_id)} for one in wheres]
        return [python, self.runner.run(self._in_postgres(wheres, rows)), self._in_sqlite(wheres, rows)]

    async def _in_postgres(self, wheres: Sequence[Filter], rows: Sequence[Row]) -> list[set[str]]:
        await self.pg.execute("TRUNCATE agent_memories")
        await self.pg.executemany(
            "INSERT INTO agent_memories (id, payload) VALUES ($1, $2)", [_stored(row) for row in rows]
        )
        parameters: list[object] = ["id"]
        columns = ", ".join(in_postgres(one, parameters) for one in wheres)
        records = await self.pg.fetch(f"SELECT id, {columns} FROM agent_memories WHERE $1::text = 'id'", *parameters)  # noqa: S608 - the conditions' text is made of constants
        return _by_column([(str(record[0]), *list(record)[1:]) for record in records], len(wheres))

    def _in_sqlite(self, wheres: Sequence[Filter], rows: Sequence[Row]) -> list[set[str]]:
        self.local.execute("DELETE FROM memories")
        self.local.executemany(
            "INSERT INTO memories VALUES (?, ?, ?, ?)", [(*_stored(row), *_derived(row)) for row in rows]
        )
        compiled = [in_sqlite(one) for one in wheres]
        columns = ", ".join(sql for sql, _ in compiled)
        values = [value for _, parameters in compiled for value in parameters]
        return _by_column(self.local.execute(f"SELECT id, {columns} FROM memories", values).fetchall(), len(wheres))  # noqa: S608 - as above


def _by_column(records: Sequence[Sequence[Any]], columns: int) -> list[set[str]]:
    """The ids for which each column is true; a column that is NULL for any is a mistake."""
    assert all(value in {True, False} for record in records for value in record[1:])
    return [{record[0] for record in records if record[1 + column]} for column in range(columns)]


def _stored(row: Row) -> tuple[str, str]:
    return row[0], json.dumps(row[1])


def _derived(row: Row) -> tuple[str, str | None]:
    return utc_stamp(row[1].get("created_at")), utc_date(row[1].get("expiration_date"))


@pytest.fixture(scope="module")
def engines(postgres_server: EmbeddedServer) -> Iterator[Engines]:
    local = sqlite3.connect(":memory:")
    register(local)
    local.execute("CREATE TABLE memories (id text PRIMARY KEY, payload text, created_at text, expires_on text)")
    with asyncio.Runner() as runner:
        pg = runner.run(_memory_table(postgres_server))
        yield Engines(runner, pg, local)
        runner.run(pg.close())
    local.close()


async def _memory_table(server: EmbeddedServer) -> asyncpg.Connection:
    """The real one, whose columns PostgreSQL derives; in a session far from UTC."""
    name = f"filters_{secrets.token_hex(6)}"
    admin = await asyncpg.connect(server.admin_dsn)
    await admin.execute(f"CREATE DATABASE {name} TEMPLATE {ROLE} OWNER {ROLE} STRATEGY FILE_COPY")
    await admin.close()
    pg = await asyncpg.connect(server.dsn_of(name, role=ROLE))
    await migrate(pg, read_migrations())
    await prepare(pg, Collection("agent_memories"), 384)
    await pg.execute("SET TIME ZONE 'America/Caracas'")
    return pg


often = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)


@often
@given(nodes=st.lists(leaves, min_size=8, max_size=12), rows=rows)
def test_every_leaf_finds_the_same_three_ways(engines: Engines, nodes: list[Any], rows: list[Row]) -> None:
    python, postgres, sqlite = engines.found([Filter(node) for node in nodes], rows)

    assert python == postgres == sqlite


@often
@given(nodes=st.lists(trees, min_size=2, max_size=3), rows=rows)
def test_every_tree_finds_the_same_three_ways(engines: Engines, nodes: list[Any], rows: list[Row]) -> None:
    python, postgres, sqlite = engines.found([Filter(node) for node in nodes], rows)

    assert python == postgres == sqlite


@pytest.mark.field("B29")
@often
@given(raws=st.lists(client_filters, min_size=2, max_size=4), rows=rows)
def test_every_client_filter_and_its_complement_find_the_same_three_ways(
    engines: Engines, raws: list[Any], rows: list[Row]
) -> None:
    wheres = [where for raw in raws if (where := parse(raw)) is not None]
    opposites = [Filter(Not(where.root)) for where in wheres]
    everything = {memory_id for memory_id, _ in rows}

    python, postgres, sqlite = engines.found(wheres + opposites, rows)

    assert python == postgres == sqlite
    assert python[len(wheres) :] == [everything - found for found in python[: len(wheres)]]


def test_the_random_rows_meet_the_random_conditions() -> None:
    """The tests above say something only if every kind of leaf is often met, and often not."""
    met: Counter[tuple[str, bool]] = Counter()

    @settings(often, derandomize=True, database=None)
    @given(nodes=st.lists(leaves, min_size=8, max_size=12), rows=rows)
    def count(nodes: list[Any], rows: list[Row]) -> None:
        met.update((type(node).__name__, matches(Filter(node), row, one)) for node in nodes for one, row in rows)

    count()

    kinds = [kind.__name__ for kind in (Equals, Present, Holds, Contains, Between, Among)]
    assert all(met[kind, answer] > 25 for kind in kinds for answer in (True, False)), met


@pytest.mark.field("S2")
@settings(often, max_examples=100)
@given(raw=client_filters)
def test_no_filter_reaches_a_row_that_the_statement_excludes(engines: Engines, raw: Any) -> None:
    """The scope stands before the condition, ANDed: a filter that tries to leave its own parentheses would fail this."""
    where = parse(raw)

    assert where is not None
    sql, parameters = in_sqlite(where)
    places: list[object] = []
    pg = in_postgres(where, places)
    mine = f"SELECT count(*) FROM memories WHERE 1 = 0 AND {sql}"  # noqa: S608 - the condition's text is made of constants
    assert engines.local.execute(mine, parameters).fetchone() == (0,)
    theirs = f"SELECT count(*) FROM agent_memories WHERE false AND {pg}"  # noqa: S608 - as above
    assert engines.runner.run(engines.pg.fetchval(theirs, *places)) == 0


def test_the_largest_filter_that_is_taken_runs_on_both_engines(engines: Engines) -> None:
    width = MOST_CONDITIONS // 2 - DEEPEST  # `user_id` is two conditions
    deep: Any = {"AND": [{"user_id": {"ne": "eve"}}] * width + [{"run_id": "r1"}]}
    for _ in range((DEEPEST - 2) // 2):
        deep = {"NOT": {"OR": [deep, {"metadata": {"x": {"contains": "y"}}}]}}
    where = parse(deep)
    rows: list[Row] = [(IDS[0], {"user_id": "ana", "run_id": "r1"}), (IDS[1], {"user_id": "eve", "run_id": "r1"})]

    assert where is not None
    assert engines.found([where], rows) == [[{IDS[0]}]] * 3


def test_a_thousand_ids_and_values_are_one_parameter_each(engines: Engines) -> None:
    where = parse(
        {"memory_ids": [str(uuid.UUID(int=n)) for n in range(1000)], "run_id": {"in": [f"r{n}" for n in range(1000)]}}
    )
    rows: list[Row] = [(IDS[0], {"run_id": "r999"}), (IDS[1], {"run_id": "r1000"})]

    assert where is not None
    assert engines.found([where], rows) == [[{IDS[0]}]] * 3


@pytest.mark.field("B25")
@pytest.mark.field("B26")
def test_text_where_a_number_is_compared_never_fails_the_query(engines: Engines) -> None:
    where = parse({"metadata": {"price": {"ne": 10}}})
    rows: list[Row] = [(IDS[0], {"price": 10}), (IDS[1], {"price": "n/a"}), (IDS[2], {"price": [10]}), (IDS[3], {})]

    assert where is not None
    assert engines.found([where], rows) == [[{IDS[1], IDS[2], IDS[3]}]] * 3


def test_naming_an_entity_changes_nothing_that_is_found(engines: Engines) -> None:
    rows: list[Row] = [(IDS[0], {"user_id": "ana"})]

    assert engines.found([Filter(Present("user_id"), frozenset({Named("user_id", "eve")}))], rows) == [[{IDS[0]}]] * 3
