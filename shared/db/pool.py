"""The connections to PostgreSQL: pooled, bounded in number and in time, their faults in our words."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import asyncpg
import orjson
import pgvector
from pgvector.asyncpg import register_vector

from shared.db.faults import DOWN, FAULTS, in_our_words
from shared.errors import ServiceError, Unavailable
from shared.records import Vector

_BUSY = "What is remembered is asked for by too many at once. Try again in a moment."


NOBODY, EVERYBODY = "", "*"
"""What a connection is shown when no person is said, and for what is everybody's by its nature: upkeep, the queue, an
administrator's read by id, a key that is not yet known to be anybody's. No person has these for a uid."""

_SHOW = "SELECT set_config('runtime_memory.person', $1, false)"


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of the pool: connections, and seconds."""

    connections: int = 10
    acquire: float = 5.0
    statement: float = 10.0
    connect: float = 5.0
    row_security: bool = True
    """Whether each connection says whose rows it may see: PostgreSQL shows it no others, whatever is asked."""


class _Connection(asyncpg.Connection):
    """Released without the reset query, which halves the pool's cost: so no session SET, LISTEN or lock on the pool.

    The one exception is whom it is shown for, which is said whenever a connection is lent for somebody else.
    """

    shown_for: str | None = None
    """None while it is not known."""

    async def show(self, person: str) -> None:
        """From here on, this person's rows and no others."""
        if self.shown_for != person:
            self.shown_for = None
            await self.execute(_SHOW, person)
            self.shown_for = person

    def doubt(self) -> None:
        """It is not known for whom: a rollback may take back what was said."""
        self.shown_for = None

    def get_reset_query(self) -> str:
        return ""


class Database:
    """A pool that opens when first needed, so that a service starts, and stays up, while the database is away."""

    def __init__(self, dsn: str, limits: Limits = Limits()) -> None:
        self._dsn = dsn
        self._limits = limits
        self._pool: asyncpg.Pool | None = None

    async def open(self) -> None:
        """Make the pool; no connection is opened yet."""
        self._pool = await asyncpg.create_pool(
            self._dsn,
            min_size=0,
            max_size=self._limits.connections,
            max_inactive_connection_lifetime=300,
            command_timeout=self._limits.statement,
            timeout=self._limits.connect,
            connection_class=_Connection,
            init=self._prepared,
        )

    async def close(self) -> None:
        """Wait for running statements, then close every connection."""
        if self._pool is not None:
            pool, self._pool = self._pool, None
            await pool.close()

    @asynccontextmanager
    async def connection(self, person: str = NOBODY) -> AsyncIterator[asyncpg.pool.PoolConnectionProxy]:
        """A connection that sees what is one person's, within the time allowed; without a person nothing of anybody.

        Raises Unavailable for the store's faults, here or in the body; OurFault for what it was wrongly asked.
        """
        if self._pool is None:
            raise Unavailable(DOWN)
        with _in_our_words():
            try:
                connection = await self._pool.acquire(timeout=self._limits.acquire)
            except TimeoutError as error:
                raise Unavailable(_BUSY) from error
            try:
                if self._limits.row_security:
                    await connection.show(person)  # type: ignore[attr-defined]  # the proxy lends ours
                yield connection
            finally:
                await self._pool.release(connection, timeout=self._limits.acquire)

    @asynccontextmanager
    async def transaction(self, person: str = NOBODY) -> AsyncIterator[asyncpg.pool.PoolConnectionProxy]:
        """A connection in a transaction that is committed at the end, or rolled back whole."""
        async with self.connection(person) as connection, connection.transaction():
            yield connection

    async def _prepared(self, connection: asyncpg.Connection) -> None:
        await _register(connection)
        if self._limits.row_security:
            await connection.execute(_SHOW, NOBODY)

    @property
    def in_use(self) -> int:
        """Connections that are lent at this moment."""
        return 0 if self._pool is None else self._pool.get_size() - self._pool.get_idle_size()

    async def answers(self) -> bool:
        """Whether the database can be asked at all: for `/readyz`."""
        try:
            async with self.connection() as connection:
                return bool(await connection.fetchval("SELECT true"))
        except ServiceError:
            return False


@asynccontextmanager
async def seeing(lent: asyncpg.pool.PoolConnectionProxy, person: str) -> AsyncIterator[None]:
    """For the statements of a block what is another's; after it, again what the connection was lent for."""
    connection: _Connection = lent  # type: ignore[assignment]  # the proxy lends ours
    if (lent_for := connection.shown_for) is None:  # without row security nothing is said
        yield
        return
    await connection.show(person)
    try:
        yield
    except BaseException as error:
        connection.doubt()
        if isinstance(error, Exception):  # one that is cancelled asks nothing more
            with contextlib.suppress(*FAULTS):  # as in a transaction that failed
                await connection.show(lent_for)
        raise
    await connection.show(lent_for)


class _in_our_words:  # noqa: N801 (read as a phrase: `with _in_our_words()`)
    """Turns every driver fault into one of ours."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, FAULTS) and not isinstance(error, ServiceError):
            raise in_our_words(error) from error


def array_of(vectors: Sequence[Vector]) -> list[pgvector.Vector]:
    """Vectors as one value, an array: of plain ones the driver would make an array of two dimensions."""
    return [pgvector.Vector(vector) for vector in vectors]


async def _register(connection: asyncpg.Connection) -> None:
    await register_vector(connection)
    await connection.set_type_codec(
        "jsonb", schema="pg_catalog", encoder=_jsonb, decoder=lambda raw: orjson.loads(raw[1:]), format="binary"
    )


def _jsonb(value: object) -> bytes:
    """The binary form, a version before the text: bytes in, bytes out, and never a `str` between."""
    return b"\x01" + orjson.dumps(value)
