"""The second wall: PostgreSQL itself shows a service's connection the memories of one person, whatever it is asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from shared.db.collection import Collection
from shared.db.pool import EVERYBODY, Database, Limits, seeing
from shared.db.preparing import prepare
from shared.errors import OurFault
from shared.scope import Reach, Scope
from shared.stores.pg import conditions
from tests.services import Service, start_platform, start_runtime

COLLECTION = Collection("agent_memories")
WORDS = "SELECT payload->>'data' FROM public.agent_memories ORDER BY 1"
INSERT = "INSERT INTO public.agent_memories (id, payload) VALUES (gen_random_uuid(), $1)"


@pytest.fixture
async def pool(database: str) -> AsyncIterator[Database]:
    """One connection, lent for one person after the other; a memory of each of two."""
    await prepare(database, COLLECTION, 384, with_ddl=True)
    opened = Database(database, Limits(connections=1))
    await opened.open()
    for person in ("ana", "bob"):
        async with opened.connection(person) as connection:
            await connection.execute(INSERT, {"data": f"{person}'s", "user_id": person, "agent_id": "app:desk"})
    yield opened
    await opened.close()


async def seen(pool: Database, *person: str) -> list[str]:
    async with pool.connection(*person) as connection:
        return [row[0] for row in await connection.fetch(WORDS)]


async def test_a_statement_without_a_where_sees_one_persons_and_without_a_person_nothing(pool: Database) -> None:
    for _ in range(2):
        assert await seen(pool, "ana") == ["ana's"]
        assert await seen(pool) == []
        assert await seen(pool, "bob") == ["bob's"]
        assert await seen(pool, EVERYBODY) == ["ana's", "bob's"]
    for stranger in ("an", "ANA", "ana%", "ana' OR true --", "null"):
        assert await seen(pool, stranger) == []


async def test_a_statement_without_a_where_changes_one_persons_only(pool: Database) -> None:
    async with pool.transaction("ana") as connection:
        assert await connection.execute("UPDATE public.agent_memories SET vector = NULL") == "UPDATE 1"
        assert await connection.execute("DELETE FROM public.agent_memories") == "DELETE 1"
    assert await seen(pool, EVERYBODY) == ["bob's"]

    with pytest.raises(OurFault):
        async with pool.connection("ana") as connection:
            await connection.execute(INSERT, {"data": "forged", "user_id": "bob"})
    with pytest.raises(OurFault):
        async with pool.connection("bob") as connection:
            await connection.execute("UPDATE public.agent_memories SET payload = payload || $1", {"user_id": "ana"})
    assert await seen(pool, EVERYBODY) == ["bob's"]


async def test_who_asks_at_the_same_time_is_never_shown_anothers(database: str, pool: Database) -> None:
    few = Database(database, Limits(connections=3))
    await few.open()
    people = [("ana", ["ana's"]), ("bob", ["bob's"]), ("cleo", [])] * 40

    found = await asyncio.gather(*(seen(few, person) for person, _ in people))
    await few.close()

    assert found == [own for _, own in people]


async def test_the_role_of_the_services_is_under_the_wall_although_it_owns_the_table(pool: Database) -> None:
    async with pool.connection() as connection:
        row = await connection.fetchrow(
            "SELECT relrowsecurity, relforcerowsecurity, pg_get_userbyid(relowner) = current_user AS owner"
            " FROM pg_class WHERE relname = 'agent_memories'"
        )

    assert tuple(row) == (True, True, True)


@pytest.mark.parametrize("wall", ["1", "0"])
async def test_with_the_condition_of_every_statement_gone_nothing_of_anothers_is_shown(
    settings_environment: pytest.MonkeyPatch, database: str, wall: str
) -> None:
    """Without the wall the same mistake shows it: the test can fail."""
    settings_environment.setenv("MEMORY_ROW_SECURITY", wall)
    runtime, platform = await start_runtime(database), await start_platform(database)
    path = "/api/v1/apps/memories/desk"
    status, said = await runtime.post(path, json={"memory": "likes tea", "wait": True}, uid="ana")
    assert status == 200
    memory_id = said["results"][0]["id"]

    def nothing_pinned(reach: Reach) -> tuple[str, list[object]]:
        if isinstance(reach, Scope):
            return "($1::text IS NOT NULL AND $2::text IS NOT NULL)", [reach.person, reach.application]
        return "$1::text IS NOT NULL", [reach.person]

    settings_environment.setattr(conditions, "within", nothing_pinned)
    found = [await total(runtime, path), await total(platform, "/api/runtimes/v1/memories")]
    by_id = (await runtime.get(f"{path}/{memory_id}", uid="bob"))[0]
    hits = (await runtime.post(f"{path}/search", json={"query": "tea"}, uid="bob"))[1]["memories"]
    await runtime.client.close()
    await platform.client.close()

    assert (found, by_id, len(hits)) == (([0, 0], 404, 0) if wall == "1" else ([1, 1], 200, 1))


async def total(service: Service, path: str) -> int:
    _, said = await service.get(path, uid="bob")
    assert said["total"] == len(said["memories"])
    return int(said["total"])


async def test_a_client_that_knows_nothing_of_the_wall_reads_and_writes_the_table_as_before(
    pool: Database, database: str
) -> None:
    stock = await asyncpg.connect(database)
    await stock.execute(INSERT.replace("$1", """'{"data": "carl''s", "user_id": "carl"}'"""))

    assert [row[0] for row in await stock.fetch(WORDS)] == ["ana's", "bob's", "carl's"]
    await stock.close()
    assert await seen(pool, "carl") == ["carl's"]


async def test_a_client_can_be_held_to_one_person(pool: Database, database: str) -> None:
    stock = await asyncpg.connect(database, server_settings={"runtime_memory.person": "bob"})

    assert [row[0] for row in await stock.fetch(WORDS)] == ["bob's"]
    await stock.close()


async def test_what_is_anothers_is_seen_within_the_block_that_says_so_and_no_longer(pool: Database) -> None:
    async with pool.transaction("ana") as connection:
        async with seeing(connection, EVERYBODY):
            assert await connection.fetchval("SELECT count(*) FROM public.agent_memories") == 2
        assert [row[0] for row in await connection.fetch(WORDS)] == ["ana's"]
        with pytest.raises(ValueError, match="ours"):
            async with seeing(connection, "bob"):
                raise ValueError("ours")
        assert [row[0] for row in await connection.fetch(WORDS)] == ["ana's"]
    assert await seen(pool, "ana") == ["ana's"]


@pytest.mark.parametrize("ended", [asyncpg.DivisionByZeroError, asyncio.CancelledError])
async def test_a_block_that_ends_its_transaction_leaves_the_connection_to_nobody(
    pool: Database, ended: type[BaseException]
) -> None:
    async def end() -> None:
        async with pool.transaction("ana") as connection, seeing(connection, EVERYBODY):
            if ended is asyncio.CancelledError:
                raise asyncio.CancelledError
            await connection.execute("SELECT 1 / 0")

    with pytest.raises((OurFault, asyncio.CancelledError)):
        await end()

    assert await seen(pool, EVERYBODY) == ["ana's", "bob's"]
    assert await seen(pool, "ana") == ["ana's"]
    assert await seen(pool) == []


async def test_without_row_security_a_block_says_nothing(database: str, pool: Database) -> None:
    silent = Database(database, Limits(row_security=False))
    await silent.open()
    async with silent.transaction() as connection:
        async with seeing(connection, "ana"):
            assert await connection.fetchval("SELECT current_setting('runtime_memory.person', true)") is None
        assert len(await connection.fetch(WORDS)) == 2
    await silent.close()
