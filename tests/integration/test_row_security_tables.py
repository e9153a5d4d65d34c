"""The second wall over the catalogue: every table that holds something of a person shows, and takes, one person's."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import asyncpg
import pytest

from shared.db.collection import Collection
from shared.db.migrate import read_migrations
from shared.db.pool import EVERYBODY, NOBODY, Database, Limits
from shared.db.preparing import prepare
from shared.db.wall import POLICY
from shared.errors import OurFault

COLLECTION = Collection("agent_memories")
OF_NOBODY = {"runtime_memory.migrations", "runtime_memory.collections"}
"""Tables of the schema that hold nothing of a person."""
NAMED = {name for m in read_migrations() for name in re.findall(r"CREATE TABLE (runtime_memory\.\w+)", m.sql)}
OF_PEOPLE = sorted((NAMED | {"public.agent_memories"}) - OF_NOBODY)

# What a column that must be given is given, by its type.
VALUES = {
    "text": "gen_random_uuid()::text",
    "uuid": "gen_random_uuid()",
    "bigint": "1",
    "integer": "1",
    "boolean": "true",
    "jsonb": "'{}'",
    "bytea": "'x'",
    "text[]": "'{}'",
    "timestamp with time zone": "now()",
}
NEEDED = """
SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attidentity = '' AND attgenerated = ''
    AND (attnotnull AND NOT atthasdef OR attname IN ('user_id', 'payload'))
"""
UNGUARDED = f"""
SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_policy p ON p.polrelid = c.oid AND p.polname = '{POLICY}' AND p.polcmd = '*'
WHERE (n.nspname = 'runtime_memory' OR c.relname = 'agent_memories') AND c.relkind IN ('r', 'p', 'm', 'f')
    AND NOT (c.relrowsecurity AND c.relforcerowsecurity AND p.oid IS NOT NULL) ORDER BY 1
"""  # noqa: S608 (a constant)


STATE = "SELECT key FROM runtime_memory.states WHERE user_id = $1"


async def insert(connection: asyncpg.Connection, table: str, person: str) -> str:
    """A statement that adds a row of a person's to a table, whatever its columns are."""
    values = {row["name"]: VALUES.get(row["type"]) for row in await connection.fetch(NEEDED, table)}
    theirs = {
        "user_id": f"'{person}'",
        "payload": f"""'{{"user_id": "{person}", "agent_id": "app:desk", "data": "tea"}}'""",
        "state_key": await connection.fetchval(STATE, person),
    }
    values |= {name: value for name, value in theirs.items() if name in values}
    assert None not in values.values(), f"What is a column of {table} given? {values}"
    return f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join(map(str, values.values()))})"  # noqa: S608 (names of the catalogue)


@pytest.fixture
async def plain(database: str) -> AsyncIterator[asyncpg.Connection]:
    """A client that never says a person, on a prepared database with a row of each of two in every table."""
    await prepare(database, COLLECTION, 384, with_ddl=True)
    connection = await asyncpg.connect(database)
    for table in sorted(OF_PEOPLE, key=lambda name: name != "runtime_memory.states"):
        for person in ("ana", "bob"):
            await connection.execute(await insert(connection, table, person))
    yield connection
    await connection.close()


@pytest.fixture
async def pool(plain: asyncpg.Connection, database: str) -> AsyncIterator[Database]:
    opened = Database(database, Limits(connections=1))
    await opened.open()
    yield opened
    await opened.close()


def whose(table: str) -> str:
    """Whose each row of a table is."""
    of_part = "(SELECT user_id FROM runtime_memory.states WHERE key = state_key)"
    return f"SELECT {of_part if table.endswith('state_parts') else 'user_id'} FROM {table} ORDER BY 1"  # noqa: S608 (as above)


async def test_every_table_of_the_schema_is_behind_the_wall_or_holds_nothing_of_a_person(
    plain: asyncpg.Connection,
) -> None:
    assert {row[0] for row in await plain.fetch(UNGUARDED)} == OF_NOBODY
    rows = await plain.fetch("SELECT schemaname || '.' || tablename FROM pg_policies WHERE policyname = $1", POLICY)
    assert sorted(row[0] for row in rows) == OF_PEOPLE


@pytest.mark.parametrize(
    "mistake",
    [
        "CREATE TABLE runtime_memory.new (user_id text)",
        "CREATE TABLE runtime_memory.new (id int); ALTER TABLE runtime_memory.new ENABLE ROW LEVEL SECURITY",
        "CREATE TABLE runtime_memory.new (user_id text); SELECT runtime_memory.person_policy('runtime_memory.new')",
        "CREATE MATERIALIZED VIEW runtime_memory.new AS SELECT user_id FROM runtime_memory.shares",
    ],
)
async def test_a_new_table_that_stands_before_the_wall_is_told(plain: asyncpg.Connection, mistake: str) -> None:
    await plain.execute(mistake)

    assert {row[0] for row in await plain.fetch(UNGUARDED)} == {*OF_NOBODY, "runtime_memory.new"}


async def test_a_new_table_with_the_policy_is_behind_the_wall_from_the_next_start_on(
    plain: asyncpg.Connection, database: str
) -> None:
    await plain.execute("CREATE TABLE runtime_memory.new (user_id text)")
    await plain.execute("SELECT runtime_memory.person_policy('runtime_memory.new')")

    await prepare(database, COLLECTION, 384, with_ddl=True)

    assert {row[0] for row in await plain.fetch(UNGUARDED)} == OF_NOBODY


@pytest.mark.parametrize("table", OF_PEOPLE)
async def test_a_statement_without_a_where_sees_one_persons_rows_of_any_table(pool: Database, table: str) -> None:
    for person, seen in [("ana", ["ana"]), (NOBODY, []), ("bob", ["bob"]), ("an_", []), (EVERYBODY, ["ana", "bob"])]:
        async with pool.connection(person) as connection:
            assert [row[0] for row in await connection.fetch(whose(table))] == seen


@pytest.mark.parametrize("table", OF_PEOPLE)
async def test_a_statement_without_a_where_changes_one_persons_rows_of_any_table(
    pool: Database, plain: asyncpg.Connection, table: str
) -> None:
    column = await plain.fetchval(
        "SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0"
        " AND attidentity = '' AND attgenerated = '' ORDER BY attnum DESC LIMIT 1",
        table,
    )
    for person, changed in [(NOBODY, 0), ("ana", 1)]:
        async with pool.connection(person) as connection:
            assert await connection.execute(f"UPDATE {table} SET {column} = {column}") == f"UPDATE {changed}"  # noqa: S608
            assert await connection.execute(f"DELETE FROM {table}") == f"DELETE {changed}"  # noqa: S608

    assert [row[0] for row in await plain.fetch(whose(table))] == ["bob"]


@pytest.mark.parametrize("table", OF_PEOPLE)
async def test_nobody_writes_a_row_for_somebody_else_into_any_table(
    pool: Database, plain: asyncpg.Connection, table: str
) -> None:
    forged = await insert(plain, table, "bob")
    given_away = {
        "public.agent_memories": """payload = payload || '{"user_id": "bob"}'""",
        "runtime_memory.state_parts": f"state_key = {await plain.fetchval(STATE, 'bob')}",
    }.get(table, "user_id = 'bob'")
    for person, statement in [
        ("ana", forged),
        (NOBODY, forged),
        ("ana", f"UPDATE {table} SET {given_away}"),  # noqa: S608 (as above)
    ]:
        with pytest.raises(OurFault) as refused:
            async with pool.connection(person) as connection:
                await connection.execute(statement)
        assert isinstance(refused.value.__cause__, asyncpg.InsufficientPrivilegeError)

    assert [row[0] for row in await plain.fetch(whose(table))] == ["ana", "bob"]
    async with pool.connection("ana") as connection:
        await connection.execute(f"DELETE FROM {table}")  # noqa: S608 (as above)
        await connection.execute(await insert(plain, table, "ana"))


async def test_switched_off_every_connection_sees_all_tables_as_before(database: str) -> None:
    await prepare(database, COLLECTION, 384, with_ddl=True, row_security=False)
    connection = await asyncpg.connect(database)

    assert await connection.fetchval("SELECT count(*) FROM pg_class WHERE relrowsecurity OR relforcerowsecurity") == 0
    await prepare(database, COLLECTION, 384, with_ddl=True)
    assert {row[0] for row in await connection.fetch(UNGUARDED)} == OF_NOBODY
    await connection.close()
