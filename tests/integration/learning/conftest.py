"""A store, an LLM server and an embedder for the tests of learning."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from runtime_svc.engine.config import Provider
from runtime_svc.engine.provider_embedder import ProviderEmbedder
from shared.db.collection import Collection
from shared.db.pool import Database
from shared.db.preparing import prepare
from shared.stores.pg.store import PostgresStore
from tests.openai_server import OpenAIServer, openai_server

COLLECTION = Collection("agent_memories")


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with openai_server() as running:
        yield running


@pytest.fixture
async def embedder(server: OpenAIServer) -> AsyncIterator[ProviderEmbedder]:
    given = server.embedder()
    opened = await ProviderEmbedder.open(Provider(given["provider"], given["config"]), seconds=60)
    yield opened
    await opened.close()


@pytest.fixture
async def opened(database: str, server: OpenAIServer) -> AsyncIterator[Database]:
    await prepare(database, COLLECTION, server.dimensions, with_ddl=True)
    pool = Database(database)
    await pool.open()
    yield pool
    await pool.close()


@pytest.fixture
def store(opened: Database) -> PostgresStore:
    return PostgresStore(opened, COLLECTION)
