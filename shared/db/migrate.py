"""Brings the schema up to date: numbered .sql files, once each, under an advisory lock, with checksums."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from shared.errors import CannotStartError

MIGRATIONS = Path(__file__).parent / "migrations"

OLDEST_VECTOR = (0, 7)
"""The first pgvector with `binary_quantize` and `sparsevec`."""

_LOCK = 7_215_530_161_905_423_874
"""Any number, the same in every process that migrates."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file: its name, its text, and what it was when it was applied."""

    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


def read_migrations(directory: Path = MIGRATIONS) -> list[Migration]:
    """The migrations of a directory, in order."""
    return [Migration(path.stem, path.read_text("utf-8")) for path in sorted(directory.glob("*.sql"))]


async def migrate(connection: asyncpg.Connection, migrations: list[Migration]) -> list[str]:
    """Apply what is missing, each in a transaction of its own; the names of what was applied.

    Any number of starters may call it at once. Raises CannotStartError when an applied file has changed since, or the
    database knows one that this version does not.
    """
    await connection.execute("SELECT pg_advisory_lock($1)", _LOCK)
    try:
        await _prepare(connection)
        rows = await connection.fetch("SELECT name, checksum FROM runtime_memory.migrations")
        applied: dict[str, str] = {row["name"]: row["checksum"] for row in rows}
        _check(applied, migrations)
        return [m.name for m in migrations if m.name not in applied and await _apply(connection, m)]
    finally:
        await connection.execute("SELECT pg_advisory_unlock($1)", _LOCK)


def check_vector(version: str) -> None:
    """Raises CannotStartError for a pgvector that is too old, with both numbers."""
    major, minor, *_ = (*(int(part) for part in re.findall(r"\d+", version)), 0, 0)
    if (major, minor) < OLDEST_VECTOR:
        oldest = ".".join(map(str, OLDEST_VECTOR))
        raise CannotStartError(
            f"pgvector {oldest} or newer is needed; this database has {version}: update the extension (ALTER EXTENSION"
            " vector UPDATE)."
        )


async def _prepare(connection: asyncpg.Connection) -> None:
    await connection.execute("CREATE SCHEMA IF NOT EXISTS runtime_memory")
    if not await connection.fetchval("SELECT count(*) FROM pg_extension WHERE extname = 'vector'"):
        await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    check_vector(await connection.fetchval("SELECT extversion FROM pg_extension WHERE extname = 'vector'"))
    await connection.execute(
        "CREATE TABLE IF NOT EXISTS runtime_memory.migrations"
        " (name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
    )


def _check(applied: dict[str, str], migrations: list[Migration]) -> None:
    known = {m.name: m.checksum for m in migrations}
    if unknown := sorted(applied.keys() - known.keys()):
        raise CannotStartError(f"The database was migrated by a newer version ({unknown[0]}). Update this service.")
    if changed := sorted(name for name, checksum in applied.items() if known[name] != checksum):
        raise CannotStartError(f"The migration {changed[0]} is not the one that was applied to this database.")


async def _apply(connection: asyncpg.Connection, migration: Migration) -> bool:
    async with connection.transaction():
        await connection.execute(migration.sql)
        await connection.execute(
            "INSERT INTO runtime_memory.migrations (name, checksum) VALUES ($1, $2)",
            migration.name,
            migration.checksum,
        )
    return True
