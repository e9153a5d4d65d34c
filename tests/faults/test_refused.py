"""What a store refuses for what it was asked is our own fault: a 500 that is noted, and never "try again"."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import asyncpg
import pytest
from structlog.testing import capture_logs

from shared.db.pool import Database
from shared.errors import OurFault, Unavailable
from shared.stores.local.directory import DATABASE
from tests.faults.test_database import APP
from tests.services import Service, bearer

WORDS = "zanzibar tea"


@pytest.fixture
async def opened(database: str) -> AsyncIterator[Database]:
    found = Database(database)
    await found.open()
    yield found
    await found.close()


async def refuse_new_words(dsn: str | None, directory: Path) -> None:
    """From here on the store takes no new words, and says which words those were."""
    if dsn is None:
        with closing(sqlite3.connect(directory / DATABASE)) as file:
            file.execute(
                "CREATE TRIGGER refused BEFORE UPDATE ON memories BEGIN"
                f" SELECT RAISE(ABORT, '{WORDS} violates row-level security policy'); END"
            )
        return
    connection = await asyncpg.connect(dsn)
    await connection.execute(
        "CREATE POLICY refused ON public.agent_memories AS RESTRICTIVE FOR UPDATE USING (true)"
        f" WITH CHECK (payload->>'data' NOT LIKE '{WORDS}%')"
    )
    await connection.close()


@pytest.mark.fault("A store refuses a statement for what it says, as row security does", '500 in a sentence, never "try again"; an error with class and place in the log, without words')  # fmt: skip
async def test_what_a_store_refuses_is_a_500_that_is_noted_without_words(
    either: Service, dsn: str | None, tmp_path: Path
) -> None:
    _, said = await either.post(APP, json={"memory": "likes tea", "wait": True}, uid="ana")
    one = f"{APP}/{said['results'][0]['id']}"
    await refuse_new_words(dsn, tmp_path / "kept")

    with capture_logs() as logs:
        async with either.client.patch(one, json={"memory": WORDS}, headers=bearer("ana")) as refused:
            told = await refused.json()

    assert refused.status == 500
    assert "Retry-After" not in refused.headers
    sentence = "Something went wrong here. It was noted."
    assert told == {"detail": sentence, "error": sentence, "message": sentence, "code": "internal"}
    noted = [line for line in logs if line["log_level"] == "error"]
    assert [line["event"] for line in noted] == ["store.refused"]
    assert noted[0]["error"] == ("InsufficientPrivilegeError" if dsn else "IntegrityError")
    if dsn is not None:
        assert noted[0]["sqlstate"] == "42501"
        assert noted[0]["where"].startswith("writing.py:")
    assert "zanzibar" not in str(logs)
    assert (await either.get(one, uid="ana"))[1]["memory"]["memory"] == "likes tea"


@pytest.mark.parametrize(
    "statement",
    [
        "SELEC 1",
        "SELECT missing FROM pg_class",
        "SELECT * FROM missing",
        "SELECT 1 / 0",
        "SELECT 'x'::uuid",
        "SELECT (SELECT oid FROM pg_class)",
        "DO $$ BEGIN RAISE EXCEPTION 'no'; END $$",
        "CREATE TEMP TABLE t (n int NOT NULL CHECK (n > 0)); INSERT INTO t VALUES (NULL)",
        "CREATE TEMP TABLE t (n int NOT NULL CHECK (n > 0)); INSERT INTO t VALUES (0)",
        "SELECT pg_read_file('x')",
    ],
)
async def test_a_statement_that_postgres_would_refuse_again_is_our_fault(opened: Database, statement: str) -> None:
    with pytest.raises(OurFault):
        async with opened.transaction("ana") as connection:
            await connection.execute(statement)

    assert await opened.answers()


async def test_a_value_that_the_driver_cannot_send_is_our_fault(opened: Database) -> None:
    with pytest.raises(OurFault):
        async with opened.connection("ana") as connection:
            await connection.fetchval("SELECT $1::int", "x")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT pg_terminate_backend(pg_backend_pid())",
        "SELECT pg_cancel_backend(pg_backend_pid())",
        "SET LOCAL transaction_read_only = on; CREATE TABLE t ()",
        "SET LOCAL lock_timeout = 1; SET LOCAL statement_timeout = 1; SELECT pg_sleep(60)",
        "CREATE TEMP TABLE t (n int UNIQUE); INSERT INTO t VALUES (1), (1)",
    ],
)
async def test_what_may_pass_later_is_a_store_that_is_away(opened: Database, statement: str) -> None:
    with pytest.raises(Unavailable):
        async with opened.transaction("ana") as connection:
            await connection.execute(statement)

    assert await opened.answers()
