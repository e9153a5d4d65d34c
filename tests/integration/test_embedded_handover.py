"""Who keeps the embedded PostgreSQL alive: any holder, killed in any order, and nobody after the last."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import asyncpg
import pytest

from shared.db.embedded import EmbeddedServer, embedded
from shared.db.keeper import listening, occupants
from shared.db.programs import installed
from tests.waiting import wait_until

REPOSITORY = Path(__file__).parents[2]
AS_ROOT = os.geteuid() == 0
PLAIN = pwd.getpwnam("nobody").pw_uid if AS_ROOT else os.geteuid()


@pytest.fixture(params=["root", "plain user"])
def who(request):
    """The user that holds the server. A root test run shows both, a plain one only itself."""
    if request.param == "plain user":
        return PLAIN
    if not AS_ROOT:
        pytest.skip("only root can be root")
    return 0


@pytest.fixture
def reachable():
    """Let the plain user search its way to the interpreter and the programs, as an installation for it would."""
    parents = {p for path in (sys.executable, installed(), REPOSITORY) for p in Path(path).resolve().parents}
    closed = [p for p in parents if AS_ROOT and not p.stat().st_mode & stat.S_IXOTH]
    for path in closed:
        path.chmod(stat.S_IMODE(path.stat().st_mode) | stat.S_IXOTH)
    yield
    for path in closed:
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~stat.S_IXOTH)


@pytest.fixture
def directory(who, reachable):
    home = Path(tempfile.mkdtemp(prefix="rm-held-"))
    if AS_ROOT:
        os.chown(home, who, -1)
    yield home / "pg"
    shutil.rmtree(home)


@pytest.fixture
def holders(directory, who):
    """Start holders; whatever the test leaves is ended with it."""
    started = []

    def start(count=1):
        command = [sys.executable, "-m", "tests.integration.holder", str(directory), str(who)]
        new = [
            subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(count)
        ]
        started.extend(new)
        for process in new:
            if process.stdout.readline() != "held\n":
                process.kill()
                raise AssertionError(process.communicate()[1])
        return new

    yield start
    for process in started:
        process.kill()
        process.communicate()
    wait_until(lambda: not running(directory))


def running(directory):
    return listening(str(directory / ".s.PGSQL.5432")) or bool(occupants(directory / "data"))


def postmaster(directory):
    return int((directory / "data" / "postmaster.pid").read_text().splitlines()[0])


def keeper(directory):
    parent = Path(f"/proc/{postmaster(directory)}/stat").read_text().rpartition(")")[2].split()[1]
    return int(parent)


def end(process, number):
    process.send_signal(number)
    process.communicate(timeout=100)


async def say(directory, statement):
    """Run a statement as the services do."""
    host = str(directory)
    connection = await asyncpg.connect(host=host, user="runtime_memory", database="runtime_memory", timeout=60)
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)], ids=str)
async def test_the_database_survives_every_holder_but_the_last(directory, holders, order):
    three = [*holders(2), *holders()]
    await say(directory, "CREATE TABLE kept AS SELECT 'still here' AS words")

    for number in order[:-1]:
        end(three[number], signal.SIGKILL)
        assert await say(directory, "SELECT words FROM kept") == "still here"
    end(three[order[-1]], signal.SIGKILL)
    wait_until(lambda: not running(directory))

    holders()
    assert await say(directory, "SELECT words FROM kept") == "still here"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_last_holder_that_is_asked_to_stop_leaves_nothing_running(directory, holders, number):
    first, last = holders(2)
    end(first, number)
    assert await say(directory, "SELECT 1") == 1

    end(last, number)

    assert (first.returncode, last.returncode) == (0, 0)
    assert not running(directory)
    assert not (directory / "data" / "postmaster.pid").exists()


async def test_a_killed_server_comes_back_while_somebody_holds_it(directory, holders):
    holders()
    await say(directory, "CREATE TABLE kept AS SELECT 'still here' AS words")
    before = postmaster(directory)
    os.kill(before, signal.SIGKILL)

    holders()

    assert postmaster(directory) != before
    assert await say(directory, "SELECT words FROM kept") == "still here"


async def test_everything_killed_at_once_is_recovered_by_the_next_holder(directory, holders):
    (holder,) = holders()
    await say(directory, "CREATE TABLE kept AS SELECT 'still here' AS words")
    for pid in (keeper(directory), postmaster(directory)):
        os.kill(pid, signal.SIGKILL)
    end(holder, signal.SIGKILL)
    assert (directory / "data" / "postmaster.pid").exists()

    holders()
    assert await say(directory, "SELECT words FROM kept") == "still here"


async def test_a_killed_keeper_is_replaced_by_the_next_holder(directory, holders):
    (first,) = holders()
    os.kill(keeper(directory), signal.SIGKILL)
    (second,) = holders()
    assert await say(directory, "SELECT 1") == 1

    end(first, signal.SIGKILL)
    end(second, signal.SIGKILL)

    wait_until(lambda: not running(directory))


async def test_a_last_holder_without_a_keeper_stops_the_server_itself(directory, holders):
    (holder,) = holders()
    os.kill(keeper(directory), signal.SIGKILL)

    end(holder, signal.SIGTERM)

    assert not running(directory)


async def test_a_pid_file_that_names_a_living_stranger_does_not_matter(directory, holders):
    (holder,) = holders()
    pid_file = directory / "data" / "postmaster.pid"
    old = pid_file.read_text().splitlines()
    end(holder, signal.SIGTERM)
    stranger = subprocess.Popen(["sleep", "60"])
    pid_file.write_text("\n".join([str(stranger.pid), *old[1:]]) + "\n")
    try:
        holders()
        assert await say(directory, "SELECT 1") == 1
    finally:
        stranger.kill()
        stranger.wait()


async def test_a_holder_killed_while_it_starts_leaves_nothing_behind(directory, holders, who):
    command = [sys.executable, "-m", "tests.integration.holder", str(directory), str(who)]
    for delay in (0.3, 0.6, 0.9):
        process = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.DEVNULL)
        time.sleep(delay)
        end(process, signal.SIGKILL)

    holders()
    assert await say(directory, "SELECT 1") == 1


async def test_one_process_may_hold_a_directory_twice():
    home = Path(tempfile.mkdtemp(prefix="rm-held-"))
    async with embedded(home / "pg", durable=False) as first:
        second = await EmbeddedServer.hold(home / "pg", durable=False)
        await second.release()
        await second.release()
        connection = await asyncpg.connect(first.dsn)
        await connection.close()

    assert not running(home / "pg")
    shutil.rmtree(home)
