"""`python -m bench.servers bare|stock PORT DSN`: what the services are held against, each in a process of its own.

`bare` is the floor: an aiohttp handler that answers a constant, and one that selects and encodes fifty rows. `stock` is
mem0's own `AsyncMemory` behind an aiohttp handler.
"""

from __future__ import annotations

import os
import sys
import tempfile

import asyncpg
import orjson
import uvloop
from aiohttp import web

from bench.filled import OURS, STOCK
from bench.people import ANA


def json(value: object) -> web.Response:
    return web.Response(body=orjson.dumps(value), content_type="application/json")


async def hello(_: web.Request) -> web.Response:
    return json({"hello": "world"})


class Bare:
    """No token, no scope of the caller, no total: the driver and the encoder."""

    _SQL = OURS.sql(
        "SELECT id, payload FROM {memories} WHERE user_id = $1 AND agent_id = $2 ORDER BY created_at DESC, id LIMIT 50"
    )

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn

    async def open(self, _: web.Application) -> None:
        self._pool = await asyncpg.create_pool(self._dsn, max_size=10, init=self._codec)

    @staticmethod
    async def _codec(connection: asyncpg.Connection) -> None:
        await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=str, decoder=orjson.loads)

    async def list_50(self, _: web.Request) -> web.Response:
        rows = await self._pool.fetch(self._SQL, ANA.person, ANA.application)
        return json({"memories": [{"id": str(row["id"]), **row["payload"]} for row in rows]})


class Stock:
    """mem0 as released, on its own table, its embedder and LLM never asked."""

    def __init__(self, dsn: str) -> None:
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": tempfile.mkdtemp(prefix="stock-mem0-")}
        import mem0  # noqa: PLC0415 (reads its environment as it is imported)

        unused = {"provider": "openai", "config": {"api_key": "unused"}}
        table = {"connection_string": dsn, "collection_name": STOCK, "embedding_model_dims": 384, "maxconn": 10}
        self._memory = mem0.AsyncMemory.from_config(
            {
                "vector_store": {"provider": "pgvector", "config": table},
                "llm": unused,
                "embedder": unused,
                "history_db_path": ":memory:",
            }
        )

    async def list_50(self, _: web.Request) -> web.Response:
        owner = {"user_id": ANA.person, "agent_id": ANA.application}
        return json(await self._memory.get_all(filters=owner, top_k=50))


def main(which: str, port: str, dsn: str) -> None:
    app = web.Application()
    app.router.add_get("/hello", hello)
    if which == "bare":
        bare = Bare(dsn)
        app.on_startup.append(bare.open)
        app.router.add_get("/list", bare.list_50)
    else:
        app.router.add_get("/list", Stock(dsn).list_50)
    web.run_app(app, host="127.0.0.1", port=int(port), access_log=None, print=None, loop=uvloop.new_event_loop())


if __name__ == "__main__":
    main(*sys.argv[1:])
