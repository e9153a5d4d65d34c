"""Makes the tables of a new store and brings those of an older one up to date."""

from __future__ import annotations

import sqlite3

from shared.errors import CannotStartError
from shared.stores.local.directory import Identity
from shared.stores.local.tables import VERSIONS

_APPLICATION = 0x524D454D


def prepare(connection: sqlite3.Connection, expected: Identity | None, new: Identity | None) -> Identity:
    """Make the tables of a new store, or check those there are; whose they are. Raises CannotStartError.

    Without `new` nothing is made, and vectors of any width will do.
    """
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version == 0:
        _refuse_foreign(connection, expected)
    elif version > len(VERSIONS) or connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
        raise CannotStartError("The database in the store's directory was made by another program or a newer version.")
    for number, statements in enumerate(VERSIONS[version:], version + 1):
        for statement in _split(statements):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number}")
    if version == 0 and new is not None:
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute("INSERT INTO identity (id, dimensions) VALUES (?, ?)", (new.id, new.dimensions))
    return _identity(connection, expected, new)


def _refuse_foreign(connection: sqlite3.Connection, expected: Identity | None) -> None:
    if expected is not None:
        raise CannotStartError("The store's database is empty, yet the directory was in use: restore it from a copy.")
    if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        raise CannotStartError("The database in the store's directory was made by another program.")


def _identity(connection: sqlite3.Connection, expected: Identity | None, new: Identity | None) -> Identity:
    found = Identity(*connection.execute("SELECT id, dimensions FROM identity").fetchone())
    if expected is not None and found.id != expected.id:
        raise CannotStartError("The store's database and its marker are of different stores: restore both.")
    if new is None:
        return found
    if expected is not None and found.dimensions != expected.dimensions:
        raise CannotStartError("A change of the embedder was broken off: call runtime-memory re-embed again.")
    if found.dimensions != new.dimensions:
        raise CannotStartError(f"The store holds vectors of {found.dimensions} dimensions, not {new.dimensions}.")
    return found


def _split(statements: str) -> list[str]:
    """`executescript` would commit; the tables are made in one transaction."""
    bare = "\n".join(line for line in statements.splitlines() if not line.lstrip().startswith("--"))
    return [statement for statement in bare.split(";") if statement.strip()]
