"""Makes a database ready for both services: schema, memory table; whichever service starts first does it."""

from __future__ import annotations

import asyncpg

from shared.db import collection as collections
from shared.db import wall
from shared.db.collection import Collection
from shared.db.migrate import migrate, read_migrations
from shared.errors import CannotStartError, Unavailable

_PATIENCE = 5.0


OLDEST = 17
"""The first PostgreSQL with the collation that `icontains` folds case by (`pg_c_utf8`)."""


def check_server(major: int) -> None:
    """Raises CannotStartError for a PostgreSQL that is too old, with both numbers."""
    if major < OLDEST:
        raise CannotStartError(f"PostgreSQL {OLDEST} or newer is needed; this one is {major}.")


async def prepare(
    dsn: str, collection: Collection, dimensions: int, *, with_ddl: bool, row_security: bool = True
) -> None:
    """On a connection of its own, for migrations hold a session lock.

    Raises CannotStartError for what waiting will not mend, and Unavailable for what it may.
    """
    try:
        connection = await asyncpg.connect(dsn, timeout=_PATIENCE)
    except (asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidCatalogNameError) as error:
        raise CannotStartError("PostgreSQL refuses this user, password or database name.") from error
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise Unavailable("PostgreSQL does not answer.") from error
    try:
        check_server(connection.get_server_version().major)
        if with_ddl:
            await migrate(connection, read_migrations())
            await collections.prepare(connection, collection, dimensions, row_security=row_security)
            if row_security:
                await wall.put_up(connection)
        else:
            await collections.check(connection, collection, dimensions)
    except asyncpg.InsufficientPrivilegeError as error:
        raise CannotStartError(
            "This PostgreSQL role may not make the schema. Let one service with a role that may start first, and set"
            " MEMORY_MIGRATE=off here."
        ) from error
    except (OSError, TimeoutError, asyncpg.PostgresConnectionError, asyncpg.InterfaceError) as error:
        raise Unavailable("PostgreSQL went away while the schema was made.") from error
    finally:
        await connection.close(timeout=_PATIENCE)
