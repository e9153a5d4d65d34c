"""Reads of the memory table: a page, a count, one by id, the applications of a person."""

from __future__ import annotations

import sqlite3

from shared.errors import BadValue
from shared.filters import Filter
from shared.records import ApplicationSummary, Memory, Page
from shared.scope import Reach, Scope
from shared.stores import cursor
from shared.stores.local.conditions import condition
from shared.stores.local.rows import canonical, memory_of
from shared.stores.local.scopes import Values

_MOST = 2**62
"""SQLite's integers end at 2⁶³ - 1; no list is as long as this."""


def page(
    connection: sqlite3.Connection,
    reach: Reach,
    *,
    limit: int,
    offset: int,
    after: str | None,
    where: Filter | None,
    show_expired: bool,
) -> Page:
    """See `MemoryStore.page`."""
    if limit < 0 or offset < 0:
        raise BadValue("A page begins at 0 or later, and holds 0 memories or more.")
    within, values = condition(reach, where, show_expired=show_expired)
    start, place = _place(after)
    rows = connection.execute(
        f"SELECT id, payload, created_at FROM memories WHERE {within}{start}"  # noqa: S608 (constants and placeholders)
        " ORDER BY created_at DESC, id LIMIT ? OFFSET ?",
        [*values, *place, min(limit, _MOST) + 1, min(offset, _MOST)],
    ).fetchall()
    shown = rows[:limit]
    more = len(rows) > len(shown)
    whole = not (more or offset or after)
    total = len(shown) if whole else _count(connection, within, values)
    following = cursor.encode(shown[-1][2], shown[-1][0]) if more and shown else None
    return Page([memory_of(row[0], row[1]) for row in shown], total, following)


def _place(after: str | None) -> tuple[str, Values]:
    if after is None:
        return "", []
    created_at, memory_id = cursor.decode(after)
    # The first comparison alone lets the index be entered at the place; the second one is exact.
    return " AND created_at <= ? AND (created_at < ? OR id > ?)", [created_at or "", created_at or "", memory_id]


def count(connection: sqlite3.Connection, reach: Reach, *, where: Filter | None, show_expired: bool) -> int:
    """See `MemoryStore.count`."""
    return _count(connection, *condition(reach, where, show_expired=show_expired))


def _count(connection: sqlite3.Connection, within: str, values: Values) -> int:
    return int(connection.execute(f"SELECT count(*) FROM memories WHERE {within}", values).fetchone()[0])  # noqa: S608 (constants and placeholders)


def get(connection: sqlite3.Connection, reach: Reach, memory_id: str) -> Memory | None:
    """See `MemoryStore.get`."""
    within, values = condition(reach, None, show_expired=True)
    row = connection.execute(
        f"SELECT id, payload FROM memories WHERE id = ? AND {within}",  # noqa: S608 (constants and placeholders)
        [canonical(memory_id), *values],
    ).fetchone()
    return None if row is None else memory_of(row[0], row[1])


def applications(connection: sqlite3.Connection, reach: Reach) -> list[ApplicationSummary]:
    """See `MemoryStore.applications`."""
    within, values = condition(reach, None, show_expired=False)
    rows = connection.execute(
        "SELECT agent_id, count(*), min(nullif(created_at, '')), max(nullif(created_at, '')) FROM memories"  # noqa: S608 (constants and placeholders)
        f" WHERE {within} GROUP BY agent_id ORDER BY agent_id",
        values,
    )
    return [ApplicationSummary(*row) for row in rows]


def scope_of(connection: sqlite3.Connection, reach: Reach, memory_id: str) -> Scope | None:
    """The scope of one memory of a reach; None when unknown, malformed, or out of reach."""
    found = get(connection, reach, memory_id)
    return None if found is None else Scope(reach.person, found.application)
