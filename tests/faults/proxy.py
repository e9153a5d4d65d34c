"""A wire between a service and PostgreSQL that can be cut, held, and mended."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit


class Wire:
    """Listens on loopback and passes bytes on to PostgreSQL's socket."""

    def __init__(self, dsn: str) -> None:
        parts = urlsplit(dsn)
        self._socket = f"{parse_qs(parts.query)['host'][0]}/.s.PGSQL.5432"
        self._login = f"{parts.username}@127.0.0.1", parts.path
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self.port = 0

    @property
    def dsn(self) -> str:
        """Where a service finds PostgreSQL through this wire."""
        return f"postgresql://{self._login[0]}:{self.port}{self._login[1]}?sslmode=disable"

    async def mend(self) -> None:
        """Accept connections."""
        self._server = await asyncio.start_server(self._join, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """End every connection and refuse new ones."""
        if self._server is not None:
            self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()

    def hold(self) -> None:
        """Pass nothing on; connections stay."""
        self._flowing.clear()

    def let_go(self) -> None:
        """Pass on what was held."""
        self._flowing.set()

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_unix_connection(self._socket)
        self._writers |= {writer, there_writer}
        await asyncio.gather(self._pass(reader, there_writer), self._pass(there_reader, writer))
        self._writers -= {writer, there_writer}

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while some := await reader.read(65536):
                await self._flowing.wait()
                writer.write(some)
                await writer.drain()
        writer.transport.abort()


@contextlib.asynccontextmanager
async def wire(dsn: str) -> AsyncIterator[Wire]:
    """A wire that is whole, until the block ends."""
    one = Wire(dsn)
    await one.mend()
    try:
        yield one
    finally:
        one.let_go()
        await one.cut()
        await asyncio.sleep(0.05)
