"""The search indexes of the scopes asked lately: an LRU bounded by bytes, each as new as the rows it serves."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict

from shared.scope import Everything, Reach, Scope
from shared.stores.local.index import Entry, ScopeIndex
from shared.words import lexemes

_SMALL = 4_096
"""An index up to this size is made anew rather than keep what was forgotten; a larger one when an eighth is dead."""
_BATCH = 1_000


class IndexCache:
    """Used by the one thread that searches, inside the snapshot that it serves: a write and a build cannot cross."""

    def __init__(self, dimensions: int, most_bytes: int) -> None:
        self._dimensions = dimensions
        self._most_bytes = most_bytes
        self._indexes: OrderedDict[Scope, ScopeIndex] = OrderedDict()
        self._sizes: dict[Scope, int] = {}

    @property
    def bytes(self) -> int:
        """About what it takes in memory."""
        return sum(self._sizes.values())

    def get(self, connection: sqlite3.Connection, scope: Scope, version: int) -> ScopeIndex:
        """The index of a scope at the version that the connection's snapshot sees."""
        index = self._indexes.pop(scope, None)
        if index is None or (index.version != version and not _caught_up(connection, scope, index)):
            index = ScopeIndex(self._dimensions)
            _put_newer(connection, scope, index)
        index.version = version
        self._keep(scope, index)
        return index

    def drop(self, reach: Reach) -> None:
        """Keep nothing of a reach in memory: what was in it is forgotten."""
        for scope in [held for held in self._indexes if _within(held, reach)]:
            del self._indexes[scope], self._sizes[scope]

    def _keep(self, scope: Scope, index: ScopeIndex) -> None:
        self._indexes[scope] = index
        self._sizes[scope] = index.bytes
        total = self.bytes
        while total > self._most_bytes and self._indexes:
            oldest, _ = self._indexes.popitem(last=False)
            total -= self._sizes.pop(oldest)


def _caught_up(connection: sqlite3.Connection, scope: Scope, index: ScopeIndex) -> bool:
    """Bring an index to the snapshot's version; False when it would keep too much that is dead."""
    rows = connection.execute(
        "SELECT key FROM memories WHERE user_id = ? AND agent_id = ?", (scope.person, scope.application)
    )
    gone = index.known() - {key for (key,) in rows}
    if gone and len(index.keys) <= _SMALL:
        return False
    index.remove(gone)
    _put_newer(connection, scope, index)
    return index.dead * 8 <= len(index.keys)


def _put_newer(connection: sqlite3.Connection, scope: Scope, index: ScopeIndex) -> None:
    rows = connection.execute(
        "SELECT key, id, created_at, expires_on, run_id, json_extract(payload, '$.text_lemmatized'),"
        " json_extract(payload, '$.data'), vector"
        " FROM memories WHERE user_id = ? AND agent_id = ? AND version > ?",
        (scope.person, scope.application, index.version),
    )
    while batch := rows.fetchmany(_BATCH):
        index.put(
            [
                Entry(key, memory_id, created_at, expires_on, run_id, _lexemes(lemmatized, words), vector)
                for key, memory_id, created_at, expires_on, run_id, lemmatized, words, vector in batch
            ]
        )


def _lexemes(lemmatized: object, words: object) -> list[str]:
    """Rows of a stock client may have no lexemes of ours."""
    return lemmatized.split() if isinstance(lemmatized, str) else lexemes(str(words or ""))


def _within(scope: Scope, reach: Reach) -> bool:
    return scope == reach or (isinstance(reach, Everything) and scope.person == reach.person)
