"""Allowances and accesses in PostgreSQL: each person's own, kept as they were, bounded."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from shared.access import Access
from shared.db.migrate import migrate, read_migrations
from shared.db.pool import Database
from shared.errors import Conflict
from shared.scope import Everything
from shared.shares import MOST_SOURCES
from shared.stores.pg.access import PostgresAccessRecord
from shared.stores.pg.shares import PostgresShares
from shared.times import now

ANA, BOB = Everything("ana"), Everything("bob")


@pytest.fixture
async def opened(database):
    connection = await asyncpg.connect(database)
    await migrate(connection, read_migrations())
    await connection.close()
    pool = Database(database)
    await pool.open()
    yield pool
    await pool.close()


@pytest.fixture
async def shares(opened):
    return PostgresShares(opened)


def pairs(found) -> list[tuple[str, str]]:
    return [(share.source, share.reader) for share in found]


async def test_an_allowance_is_kept_as_it_was(shares):
    began = now()
    first = await shares.allow(ANA, source="app:a", reader="app:b")
    ended = now()
    again = await shares.allow(ANA, source="app:a", reader="app:b")

    assert again == first
    assert began <= first.allowed_at <= ended
    assert list(await shares.allowed(ANA)) == [first]


async def test_allowances_are_found_by_source_by_reader_by_both_and_by_neither(shares):
    for source, reader in (("app:a", "app:b"), ("app:a", "app:c"), ("app:d", "app:b")):
        await shares.allow(ANA, source=source, reader=reader)

    assert pairs(await shares.allowed(ANA)) == [("app:a", "app:b"), ("app:a", "app:c"), ("app:d", "app:b")]
    assert pairs(await shares.allowed(ANA, source="app:a")) == [("app:a", "app:b"), ("app:a", "app:c")]
    assert pairs(await shares.allowed(ANA, reader="app:b")) == [("app:a", "app:b"), ("app:d", "app:b")]
    assert pairs(await shares.allowed(ANA, source="app:d", reader="app:b")) == [("app:d", "app:b")]
    assert pairs(await shares.allowed(ANA, source="app:d", reader="app:c")) == []


@pytest.mark.field("B16")
async def test_what_one_person_allows_nobody_else_sees_or_stops(shares):
    await shares.allow(ANA, source="app:a", reader="app:b")
    for other in ("an", "ana1", "ANA", "ana%", "a_a", "%"):
        assert list(await shares.allowed(Everything(other))) == []
        assert not await shares.stop(Everything(other), source="app:a", reader="app:b")

    assert pairs(await shares.allowed(ANA)) == [("app:a", "app:b")]


async def test_a_stopped_share_is_gone_and_stopping_again_finds_nothing(shares):
    await shares.allow(ANA, source="app:a", reader="app:b")

    assert not await shares.stop(ANA, source="app:b", reader="app:a")
    assert await shares.stop(ANA, source="app:a", reader="app:b")
    assert not await shares.stop(ANA, source="app:a", reader="app:b")
    assert list(await shares.allowed(ANA)) == []


async def test_twenty_at_once_are_one_allowance(shares):
    found = await asyncio.gather(*(shares.allow(ANA, source="app:a", reader="app:b") for _ in range(20)))

    assert len(set(found)) == 1


async def test_a_reader_has_a_bounded_number_of_sources_even_when_asked_at_once(shares):
    asked = (shares.allow(ANA, source=f"app:{i}", reader="app:r") for i in range(MOST_SOURCES + 5))
    answers = await asyncio.gather(*asked, return_exceptions=True)

    assert sum(isinstance(answer, Conflict) for answer in answers) == 5
    assert len(await shares.allowed(ANA, reader="app:r")) == MOST_SOURCES
    assert (await shares.allow(ANA, source="app:x", reader="app:other")).source == "app:x"
    assert (await shares.allow(BOB, source="app:x", reader="app:r")).source == "app:x"


async def test_an_access_is_read_by_the_person_it_was_about_newest_first(opened):
    record = PostgresAccessRecord(opened)
    moment = now()
    for i in range(3):
        await record.note(ANA, Access(f"svc{i}", "list", "platform", "app:a" if i else None, i, moment))

    assert [access.actor for access in await record.accesses(ANA, limit=10)] == ["svc2", "svc1", "svc0"]
    assert [access.actor for access in await record.accesses(ANA, limit=1, offset=1)] == ["svc1"]
    assert (await record.accesses(ANA, limit=10))[2] == Access("svc0", "list", "platform", None, 0, moment)
    assert list(await record.accesses(BOB, limit=10)) == []
