"""The scope in SQL: what pins every statement to one person, the scope's version, and its epoch."""

from __future__ import annotations

import sqlite3
from typing import Any

from shared.scope import Everything, Reach, Scope

Values = list[Any]


def within(reach: Reach) -> tuple[str, Values]:
    """The condition that every statement on memories carries, and its values."""
    match reach:
        case Scope(person=person, application=application):
            return "user_id = ? AND agent_id = ?", [person, application]
        case Everything(person=person):
            return "user_id = ?", [person]


def raise_version(connection: sqlite3.Connection, scope: Scope) -> int:
    """In every write: an index built from the rows of an older version is not used any more."""
    row = connection.execute(
        "INSERT INTO scopes (user_id, agent_id, version) VALUES (?, ?, 1)"
        " ON CONFLICT (user_id, agent_id) DO UPDATE SET version = version + 1 RETURNING version",
        (scope.person, scope.application),
    ).fetchone()
    return int(row[0])


def raise_versions(connection: sqlite3.Connection, reach: Reach) -> None:
    """The same, for all scopes of a reach."""
    condition, values = within(reach)
    connection.execute(f"UPDATE scopes SET version = version + 1 WHERE {condition}", values)  # noqa: S608 (constants)


def versions(connection: sqlite3.Connection, reach: Reach) -> list[tuple[Scope, int]]:
    """The scopes of a reach that were ever written to, each with its version."""
    condition, values = within(reach)
    rows = connection.execute(
        f"SELECT user_id, agent_id, version FROM scopes WHERE {condition} AND agent_id != ''",  # noqa: S608 (constants)
        values,
    )
    return [(Scope(person, application), version) for person, application, version in rows]


def epoch(connection: sqlite3.Connection, scope: Scope) -> int:
    """The scope's counter and the person's, added: it changes when either is raised."""
    row = connection.execute(
        "SELECT coalesce(sum(epoch), 0) FROM scopes WHERE user_id = ? AND agent_id IN (?, '')",
        (scope.person, scope.application),
    ).fetchone()
    return int(row[0])


def raise_epoch(connection: sqlite3.Connection, reach: Reach) -> None:
    """From here on, nothing that was accepted before is written."""
    connection.execute(
        "INSERT INTO scopes (user_id, agent_id, epoch) VALUES (?, ?, 1)"
        " ON CONFLICT (user_id, agent_id) DO UPDATE SET epoch = epoch + 1",
        (reach.person, reach.application if isinstance(reach, Scope) else ""),
    )
