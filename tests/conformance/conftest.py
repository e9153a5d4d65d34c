"""The engines that every case of this suite runs on: each is empty, and opened by the same call."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest

from shared.access import AccessRecord
from shared.client_records import ClientRecords
from shared.db.collection import Collection, prepare
from shared.db.embedded import ROLE, EmbeddedServer
from shared.db.migrate import migrate, read_migrations
from shared.db.pool import Database
from shared.db.wall import put_up
from shared.stores.data import DataStore
from shared.stores.local.access import LocalAccessRecord
from shared.stores.local.queue import LocalQueue
from shared.stores.local.store import LocalStore
from shared.stores.outbox import Outbox
from shared.stores.pg.access import PostgresAccessRecord
from shared.stores.pg.client_records import PostgresClientRecords
from shared.stores.pg.data import PostgresData
from shared.stores.pg.queue import PostgresQueue
from shared.stores.pg.states import PostgresStates
from shared.stores.pg.store import PostgresStore
from shared.stores.ports import MemoryStore
from shared.stores.queue import LearnQueue
from shared.stores.states import StateStore
from tests.conformance.build import DIMENSIONS

COLLECTION = Collection("agent_memories")


@dataclass(frozen=True)
class Ports:
    """What one engine has, over one database."""

    store: MemoryStore
    queue: LearnQueue
    access: AccessRecord
    data: DataStore
    states: StateStore
    outbox: Outbox
    records: ClientRecords


@asynccontextmanager
async def local(directory: Path) -> AsyncIterator[Ports]:
    store = await LocalStore.open(directory, dimensions=DIMENSIONS)
    try:
        yield Ports(
            store,
            LocalQueue(store.database),
            LocalAccessRecord(store.database),
            store.data,
            store.states,
            store.outbox,
            store.client_records,
        )
    finally:
        await store.close()


@asynccontextmanager
async def postgres_left(dsn: str) -> AsyncIterator[Ports]:
    """What is written stays."""
    database = Database(dsn)
    await database.open()
    try:
        store = PostgresStore(database, COLLECTION)
        yield Ports(
            store,
            PostgresQueue(database),
            PostgresAccessRecord(database),
            PostgresData(database),
            PostgresStates(database, COLLECTION, DIMENSIONS),
            store.outbox,
            PostgresClientRecords(database),
        )
    finally:
        await database.close()


@asynccontextmanager
async def postgres(dsn: str) -> AsyncIterator[Ports]:
    try:
        async with postgres_left(dsn) as ports:
            yield ports
    finally:
        await _empty(dsn)


@pytest.fixture(scope="session")
def prepared_database(postgres_server: EmbeddedServer) -> Iterator[str]:
    """One database for the suite, emptied after each case: making one takes longer than a case does."""
    name = f"conformance_{secrets.token_hex(6)}"
    dsn = postgres_server.dsn_of(name, role=ROLE)
    asyncio.run(_prepare(postgres_server.admin_dsn, name, dsn))
    yield dsn
    asyncio.run(_drop(postgres_server.admin_dsn, name))


@pytest.fixture(params=["local", "postgres"])
def engine(request: pytest.FixtureRequest) -> AbstractAsyncContextManager[Ports]:
    """One engine, not yet open. What it needs is asked for here, outside of any event loop."""
    if request.param == "local":
        return local(request.getfixturevalue("tmp_path") / "store")
    return postgres(request.getfixturevalue("prepared_database"))


@pytest.fixture
async def ports(engine: AbstractAsyncContextManager[Ports]) -> AsyncIterator[Ports]:
    """Everything that is kept, on each engine in turn."""
    async with engine as opened:
        yield opened


@pytest.fixture
def store(ports: Ports) -> MemoryStore:
    return ports.store


@pytest.fixture
def queue(ports: Ports) -> LearnQueue:
    return ports.queue


@pytest.fixture
def outbox(ports: Ports) -> Outbox:
    return ports.outbox


@pytest.fixture
def records(ports: Ports) -> ClientRecords:
    return ports.records


@pytest.fixture
def data(ports: Ports) -> DataStore:
    return ports.data


@pytest.fixture
def states(ports: Ports) -> StateStore:
    return ports.states


@pytest.fixture
def access(ports: Ports) -> AccessRecord:
    return ports.access


async def _prepare(admin_dsn: str, name: str, dsn: str) -> None:
    admin = await asyncpg.connect(admin_dsn)
    await admin.execute(f"CREATE DATABASE {name} TEMPLATE {ROLE} OWNER {ROLE} STRATEGY FILE_COPY")
    await admin.close()
    connection = await asyncpg.connect(dsn)
    await migrate(connection, read_migrations())
    await prepare(connection, COLLECTION, DIMENSIONS)
    await put_up(connection)
    await connection.close()


async def _empty(dsn: str) -> None:
    connection = await asyncpg.connect(dsn)
    names = await connection.fetchval(
        "SELECT string_agg(format('%I.%I', schemaname, tablename), ', ') FROM pg_tables"
        " WHERE schemaname IN ('public', 'runtime_memory') AND tablename NOT IN ('migrations', 'collections')"
    )
    await connection.execute(f"TRUNCATE {names}")
    await connection.close()


async def _drop(admin_dsn: str, name: str) -> None:
    admin = await asyncpg.connect(admin_dsn)
    await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await admin.close()
