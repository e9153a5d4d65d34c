"""The embedded PostgreSQL: who may do what in it, and who keeps it alive."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import stat
import tempfile
import threading
import time
from pathlib import Path

import asyncpg
import pytest

from shared.db import embedded as embedded_module
from shared.db import keeper, programs
from shared.db.directory import EmbeddedServerError
from shared.db.embedded import EmbeddedServer, embedded
from shared.db.keeper import occupants
from tests.waiting import FOR_EVER


async def test_the_role_of_the_services_is_plain_and_owns_its_database(database):
    connection = await asyncpg.connect(database)
    role = await connection.fetchrow(
        "SELECT rolsuper, rolbypassrls, rolcreatedb, rolcreaterole, rolreplication, "
        "pg_get_userbyid(datdba) = rolname AS owns "
        "FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database()"
    )
    distance = await connection.fetchval("SELECT '[1,0]'::vector <=> '[0,1]'::vector")
    await connection.execute("CREATE TABLE public.t (v vector(3)); CREATE SCHEMA mine")
    await connection.close()

    assert dict(role) == {
        "rolsuper": False,
        "rolbypassrls": False,
        "rolcreatedb": False,
        "rolcreaterole": False,
        "rolreplication": False,
        "owns": True,
    }
    assert distance == 1.0


@pytest.mark.parametrize("attempt", [1, 2])
async def test_each_test_has_a_database_of_its_own(database, attempt):
    connection = await asyncpg.connect(database)
    await connection.execute("CREATE TABLE public.only_once (attempt int)")
    await connection.close()

    assert attempt


@pytest.fixture
def home():
    """A directory that another user can be let into, unlike pytest's own."""
    path = Path(tempfile.mkdtemp(prefix="rm-embedded-"))
    yield path
    shutil.rmtree(path)


@pytest.mark.parametrize("name", ["x" * 120, "odd, \"quoted\" 'é' 100%"], ids=["long", "odd"])
async def test_a_directory_may_have_any_name(home, name):
    async with embedded(home / name, durable=False) as server:
        connection = await asyncpg.connect(server.admin_dsn)
        where = await connection.fetchval("SELECT current_setting('data_directory')")
        await connection.close()

    shutil.rmtree(server.socket_dir)
    assert where == str(home / name / "data")


async def test_the_socket_is_in_the_directory_itself_and_only_its_owner_enters(home):
    async with embedded(home / "pg", durable=False) as server:
        assert server.socket_dir == home / "pg"
        assert (home / "pg" / ".s.PGSQL.5432").is_socket()
        assert stat.S_IMODE((home / "pg").stat().st_mode) == 0o700


async def test_a_directory_with_other_things_in_it_is_refused_untouched(home):
    (home / "letters.txt").write_text("dear")
    before = home.stat()

    with pytest.raises(EmbeddedServerError, match="not empty"):
        await EmbeddedServer.hold(home)

    assert (home.stat().st_mode, home.stat().st_uid) == (before.st_mode, before.st_uid)
    assert [path.name for path in home.iterdir()] == ["letters.txt"]


async def test_a_directory_that_cannot_be_made_is_refused_in_a_sentence(home):
    (home / "file").write_text("")

    with pytest.raises(EmbeddedServerError, match="cannot be used"):
        await EmbeddedServer.hold(home / "file" / "pg")


async def test_a_server_that_cannot_start_says_why(home):
    async with embedded(home / "pg", durable=False):
        pass
    (home / "pg" / "data" / "postgresql.conf").write_text("work_mem = plenty\n")

    with pytest.raises(EmbeddedServerError, match="work_mem"):
        await EmbeddedServer.hold(home / "pg", durable=False)


async def test_its_log_never_holds_what_a_statement_said(postgres_server, database):
    connection = await asyncpg.connect(database)
    await connection.execute("CREATE TABLE public.t (words text UNIQUE, number int)")
    for statement in (
        "INSERT INTO t (words) VALUES ('my-secret-words'), ('my-secret-words')",
        "SELECT 'my-secret-words'::int",
    ):
        with pytest.raises(asyncpg.PostgresError):
            await connection.execute(statement)
    await connection.close()

    log = (postgres_server.socket_dir / "postgres.log").read_text()
    assert "ready to accept connections" in log
    assert "my-secret-words" not in log


async def test_it_knows_none_of_our_secrets(home, monkeypatch):
    monkeypatch.setenv("MEMORY_JWT_SECRET", "a-secret-of-the-service-and-32-bytes")
    async with embedded(home / "pg", durable=False):
        seen = [Path(f"/proc/{pid}/environ").read_bytes() for pid in occupants(home / "pg" / "data")]

    assert seen
    assert all(b"MEMORY_JWT_SECRET" not in environment for environment in seen)


async def test_the_event_loop_goes_on_while_a_server_starts_and_stops(home, monkeypatch):
    """Whatever waits for a program, the disk or the server does so in another thread, and the loop turns meanwhile."""
    loop, mine, seen = asyncio.get_running_loop(), threading.get_ident(), []

    def watch(module, name):
        real = getattr(module, name)

        def noted(*args, **kwargs):
            turned = threading.Event()
            loop.call_soon_threadsafe(turned.set)
            seen.append((name, threading.get_ident() != mine and turned.wait(FOR_EVER)))
            return real(*args, **kwargs)

        monkeypatch.setattr(module, name, noted)

    watch(programs.subprocess, "run")
    watch(embedded_module, "installed")
    watch(embedded_module, "prepare")
    watch(keeper, "listening")
    monkeypatch.setattr(time, "sleep", lambda _: seen.append(("sleep", threading.get_ident() != mine)))
    async with embedded(home / "pg", durable=False):
        os.kill(keeper_of(home / "pg"), signal.SIGKILL)  # so that the holder stops the server itself

    assert {name for name, _ in seen} >= {"run", "installed", "prepare", "listening"}
    assert all(elsewhere for _, elsewhere in seen), seen
    assert [name for name, _ in seen].count("run") == 2, "it made the directory, and stopped the server"


def keeper_of(directory):
    """The keeper of a server: its parent."""
    server = int((directory / "data" / "postmaster.pid").read_text().splitlines()[0])
    return int(Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()[1])
