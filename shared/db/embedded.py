"""PostgreSQL with pgvector from a wheel: no server to install, shared by the processes that name the same directory.

A holder has it from `hold` to `release`, or until its process ends in any way. The server starts with the first holder
and stops with the last; any of them may be killed. Inside are the database `runtime_memory` with the extension `vector`
and its owner, the plain role `runtime_memory`, which the services connect as.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import asyncpg

from shared.db import keeper
from shared.db.directory import POLL, TURN, Directory, EmbeddedServerError, Lock, prepare
from shared.db.programs import SAID, SUPERUSER, Programs, environment, installed

ROLE = "runtime_memory"
START_WITHIN = 60.0
START_ATTEMPTS = 3
TURN_WITHIN = 120.0


class EmbeddedServer:
    """One holder's part in the server of a directory."""

    def __init__(self, directory: Directory, programs: Programs) -> None:
        """Use `hold`."""
        self._directory = directory
        self._programs = programs
        self._turn = directory.home / TURN
        self._held: Lock | None = None
        self.dsn = self.dsn_of(ROLE, role=ROLE)
        """Connects as the plain role that owns the database."""
        self.admin_dsn = self.dsn_of(SUPERUSER, role=SUPERUSER)
        """Connects as the superuser, to its own database."""

    @classmethod
    async def hold(cls, directory: Path, *, durable: bool = True) -> EmbeddedServer:
        """Have the server of this directory running until `release`, or until this process is gone.

        `durable=False` is for tests: it loses data when the machine stops. Raises EmbeddedServerError with a sentence.
        """
        path = await asyncio.to_thread(installed)
        try:
            prepared = await asyncio.to_thread(prepare, directory, programs=path)
        except OSError as error:
            raise EmbeddedServerError(
                f"The directory of the embedded server cannot be used: {error.strerror}."
            ) from error
        server = cls(prepared, Programs(path, prepared, durable))
        await server._join()
        return server

    @property
    def socket_dir(self) -> Path:
        """Where the socket is: the directory itself, unless its path is too long for one."""
        return self._directory.socket_dir

    def dsn_of(self, database: str, *, role: str) -> str:
        """The DSN of a database of this server, for asyncpg."""
        host = quote(str(self._directory.socket_dir), safe="/")
        return f"postgresql://{quote(role, safe='')}@/{quote(database, safe='')}?host={host}&port=5432"

    async def release(self) -> None:
        """Let go of the server. The last holder returns when it has stopped. A second call does nothing."""
        held, self._held = self._held, None
        if held is None:
            return
        try:
            async with self._in_turn():
                await self._leave(held)
        finally:
            held.close()

    async def _join(self) -> None:
        async with self._in_turn():
            held = Lock(self._directory.home / keeper.HOLDERS)
            try:
                await held.take(fcntl.LOCK_SH, within=TURN_WITHIN)  # waits for a keeper that is stopping the server
                await self._initialise()
                await self._furnish()
            except BaseException:
                held.close()
                raise
            self._held = held

    async def _leave(self, held: Lock) -> None:
        """Nobody joins meanwhile: it is our turn. The keeper waits for the same exclusive lock and may come first."""
        held.attempt(fcntl.LOCK_UN)
        deadline = asyncio.get_running_loop().time() + TURN_WITHIN
        while asyncio.get_running_loop().time() < deadline:
            if held.attempt(fcntl.LOCK_EX):
                if not self._kept():
                    if await asyncio.to_thread(keeper.listening, self._directory.address):
                        await self._programs.run(self._programs.stop())
                    return
                held.attempt(fcntl.LOCK_UN)  # to the keeper, which stops the server
            elif held.attempt(fcntl.LOCK_SH):
                return  # others hold it
            await asyncio.sleep(POLL)

    def _kept(self) -> bool:
        """Whether a keeper lives. Only asked in turn: asking takes its lock for a moment."""
        lock = Lock(self._directory.home / keeper.KEEPER)
        try:
            return not lock.attempt(fcntl.LOCK_EX)
        finally:
            lock.close()

    @contextlib.asynccontextmanager
    async def _in_turn(self) -> AsyncIterator[None]:
        """One process at a time starts, furnishes or leaves."""
        turn = Lock(self._turn)
        try:
            await turn.take(fcntl.LOCK_EX, within=TURN_WITHIN)
            yield
        finally:
            turn.close()

    async def _initialise(self) -> None:
        """Make the data directory beside its place and rename it there, so that a kill leaves a whole one or none."""
        data = self._directory.data
        if await asyncio.to_thread((data / "PG_VERSION").exists):
            return
        fresh = data.with_name(f"data.new-{os.getpid()}")
        for leftover in await asyncio.to_thread(lambda: list(data.parent.glob("data.new-*"))):
            await asyncio.to_thread(shutil.rmtree, leftover, ignore_errors=True)
        code, said = await self._programs.run(self._programs.initdb(fresh))
        if code:
            raise EmbeddedServerError(f"The embedded server's data directory could not be made: {said}")
        await asyncio.to_thread(fresh.rename, data)

    async def _start_keeper(self) -> None:
        """Have a keeper, which starts the server. It ends at once when another one keeps it already."""
        order = {
            "data": str(self._directory.data),
            "address": self._directory.address,
            "identity": self._directory.identity,
            "env": environment(),
            "start": self._programs.start(),
            "stop": self._programs.stop(),
        }
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-I", "-S", keeper.__file__, json.dumps(order)),
            cwd="/",
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        await process.wait()

    async def _connect(self) -> asyncpg.Connection:
        """The first connection, of a server that is running, starting, recovering, or has to be started."""
        for _ in range(START_ATTEMPTS):
            await self._start_keeper()
            deadline = asyncio.get_running_loop().time() + START_WITHIN
            kept = True
            while kept and asyncio.get_running_loop().time() < deadline:
                kept = self._kept()
                try:
                    return await asyncpg.connect(self.admin_dsn, timeout=10)
                except (OSError, asyncpg.PostgresError):
                    await asyncio.sleep(POLL)
        raise EmbeddedServerError(f"The embedded server did not start: {await self._reason()}")

    async def _reason(self) -> str:
        def tail() -> str:
            with contextlib.suppress(OSError):
                return (self._directory.home / keeper.LOG).read_text(errors="replace")[-SAID:]
            return "it left no log."

        return await asyncio.to_thread(tail)

    async def _furnish(self) -> None:
        """Make the role, its database and the extension, unless they are there."""
        connection = await self._connect()
        try:
            if not await connection.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", ROLE):
                await connection.execute(f"CREATE ROLE {ROLE} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS")
            if not await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", ROLE):
                await connection.execute(f"CREATE DATABASE {ROLE} OWNER {ROLE}")
        finally:
            await connection.close()
        inside = await asyncpg.connect(self.dsn_of(ROLE, role=SUPERUSER), timeout=10)
        try:
            await inside.execute("CREATE EXTENSION IF NOT EXISTS vector")
        finally:
            await inside.close()


@contextlib.asynccontextmanager
async def embedded(directory: Path, *, durable: bool = True) -> AsyncIterator[EmbeddedServer]:
    """The server of this directory, held for the length of a block."""
    server = await EmbeddedServer.hold(directory, durable=durable)
    try:
        yield server
    finally:
        await asyncio.shield(server.release())
