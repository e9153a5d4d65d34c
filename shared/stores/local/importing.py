"""Takes over, once, what a stock mem0 client kept with FAISS. Its files stay as they are."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import numpy as np

from shared.errors import BadValue
from shared.payloads import WORDS_VERSION, hash_of
from shared.scope import Scope, application_key, person_uid
from shared.stores.local import rows, scopes
from shared.stores.local.database import Database
from shared.stores.local.stock import StockCollection, StockRow, pairs, read, version_of
from shared.words import lemmatized


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did, or would do."""

    collections: Sequence[str]
    """The names of the files that were read."""
    found: int = 0
    imported: int = 0
    known: int = 0
    """Imported before (also when forgotten since), or here already."""
    ownerless: int = 0
    """Without a person and an application that can be one: nobody's, so they stay where they are."""
    unusable: int = 0
    """Without words, or with what cannot be kept."""
    without_vector: int = 0
    """Imported, and found by their words only until they are embedded again."""


async def import_stock(database: Database, source: Path, *, dimensions: int, dry_run: bool = False) -> Imported:
    """Import what a directory holds. Raises CannotStartError for a torn file; then nothing was imported."""
    found = await asyncio.to_thread(lambda: [read(*pair) for pair in pairs(source)])
    return await _import(database, source, found, dimensions=dimensions, dry_run=dry_run)


async def import_beside(database: Database, directory: Path, *, dimensions: int) -> Imported:
    """At every start, what a stock client left in the store's own directory, unless it is as it was imported."""
    here = await asyncio.to_thread(lambda: [(pair, version_of(*pair)) for pair in pairs(directory)])
    done = await database.read(
        lambda connection: dict(connection.execute("SELECT name, version FROM imports").fetchall())
    )
    new = [pair for pair, version in here if done.get(_name(directory, pair[0].stem)) != version]
    found = await asyncio.to_thread(lambda: [read(*pair) for pair in new])
    return await _import(database, directory, found, dimensions=dimensions, dry_run=False)


async def _import(
    database: Database, source: Path, found: Sequence[StockCollection], *, dimensions: int, dry_run: bool
) -> Imported:
    names = [collection.name for collection in found]
    if not found:
        return Imported(names)

    def job(connection: sqlite3.Connection) -> Imported:
        counted = Counter[str]()
        importing = _Importing(connection, dimensions, counted, {}, dry_run=dry_run)
        for collection in found:
            for row in collection.rows:
                importing.take(row)
            if not dry_run:
                connection.execute(
                    "INSERT INTO imports (name, version) VALUES (?, ?)"
                    " ON CONFLICT (name) DO UPDATE SET version = excluded.version",
                    (_name(source, collection.name), collection.version),
                )
        return Imported(names, **counted)

    # A dry run writes nothing, but it may take longer than a read is given.
    return await database.write(job)


def _name(directory: Path, collection: str) -> str:
    return str(directory.absolute() / collection)


@dataclass(frozen=True, slots=True)
class _Importing:
    connection: sqlite3.Connection
    dimensions: int
    counted: Counter[str]
    versions: dict[Scope, int]
    dry_run: bool

    def take(self, row: StockRow) -> None:
        """One row: kept, or counted by why it is not."""
        self.counted["found"] += 1
        scope, memory_id = _owner(row), rows.canonical(row.id) or str(uuid5(NAMESPACE_OID, row.id))
        if scope is None:
            self.counted["ownerless"] += 1
        elif self._known(memory_id):
            self.counted["known"] += 1
        else:
            self._keep(scope, memory_id, row)

    def _known(self, memory_id: str) -> bool:
        found = self.connection.execute(
            "SELECT EXISTS (SELECT 1 FROM imported WHERE id = ?) OR EXISTS (SELECT 1 FROM memories WHERE id = ?)",
            (memory_id, memory_id),
        )
        return bool(found.fetchone()[0])

    def _keep(self, scope: Scope, memory_id: str, row: StockRow) -> None:
        fits = row.vector is not None and row.vector.shape == (self.dimensions,) and bool(np.isfinite(row.vector).all())
        try:
            vector = rows.blob(row.vector, self.dimensions) if fits and row.vector is not None else rows.NO_VECTOR
            self._write(scope, memory_id, _payload(row, fits=fits), vector)
        except (BadValue, UnicodeError):
            self.counted["unusable"] += 1
        else:
            self.counted["imported"] += 1
            self.counted["without_vector"] += not fits

    def _write(self, scope: Scope, memory_id: str, payload: dict[str, Any], vector: bytes) -> None:
        if self.dry_run:
            rows.json_text(payload)
            return
        if scope not in self.versions:
            self.versions[scope] = scopes.raise_version(self.connection, scope)
        rows.insert(self.connection, scope, memory_id, payload, vector=vector, version=self.versions[scope])
        self.connection.execute("INSERT INTO imported (id) VALUES (?)", (memory_id,))


def _payload(row: StockRow, *, fits: bool) -> dict[str, Any]:
    words = row.payload.get("data")
    if not isinstance(words, str) or not words:
        raise BadValue("It has no words.")
    derived = {"text_lemmatized": lemmatized(words), "hash": hash_of(words), "words_version": WORDS_VERSION}
    return {**row.payload, **derived} | ({} if fits else {"vector_of": rows.NOT_EMBEDDED})


def _owner(row: StockRow) -> Scope | None:
    try:
        return Scope(person_uid(row.payload.get("user_id")), application_key(row.payload.get("agent_id")))
    except BadValue:
        return None
