"""The learn queue as other writes touch it: a learn ends with its memories, and forgetting reaches what is queued.

A request to learn holds words, so it stands in a table of its own, written once and deleted when the learn ends.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from shared.errors import ForgottenMeanwhile
from shared.records import Outcome
from shared.scope import Reach, Scope
from shared.stores.barring import FORGOTTEN
from shared.stores.local.overflow import padding
from shared.stores.local.rows import json_text
from shared.stores.local.scopes import within
from shared.times import stamp


def keep_request(connection: sqlite3.Connection, key: int, request: Mapping[str, Any]) -> None:
    """Beside its event, in the same transaction."""
    text = json_text(request)
    blank, fill = padding([], [text])
    connection.execute(
        "INSERT INTO event_requests (key, blank, request, fill) VALUES (?, ?, ?, ?)", (key, blank, text, fill)
    )


def barred(connection: sqlite3.Connection, scope: Scope, event_id: str) -> frozenset[str]:
    """Hashes of words forgotten since a learn was accepted. Raises ForgottenMeanwhile when it no longer runs."""
    row = connection.execute(
        "SELECT barred FROM events WHERE user_id = ? AND agent_id = ? AND id = ? AND status = 'RUNNING'",
        (scope.person, scope.application, event_id),
    ).fetchone()
    if row is None:
        raise ForgottenMeanwhile(FORGOTTEN)
    return frozenset(json.loads(row[0]))


def end(connection: sqlite3.Connection, scope: Scope, event_id: str, outcomes: Sequence[Outcome], at: datetime) -> None:
    """In the transaction that keeps its memories. The raw messages go; the results name ids, never words."""
    results = json.dumps([{"id": outcome.id, "event": outcome.event} for outcome in outcomes])
    finish(
        connection,
        "id = ? AND user_id = ? AND agent_id = ?",
        [event_id, scope.person, scope.application],
        status="SUCCEEDED",
        results=results,
        at=at,
    )


def bar(connection: sqlite3.Connection, scope: Scope, hashes: Sequence[str]) -> None:
    """Learns of the scope that were accepted by now do not bring these words back."""
    waiting = connection.execute(
        "SELECT key, barred FROM events WHERE user_id = ? AND agent_id = ? AND status IN ('PENDING', 'RUNNING')",
        (scope.person, scope.application),
    ).fetchall()
    for key, before in waiting:
        after = json.dumps([*json.loads(before), *hashes])
        connection.execute("UPDATE events SET barred = ? WHERE key = ?", (after, key))


def drop_unfinished(connection: sqlite3.Connection, reach: Reach, at: datetime) -> None:
    """Learns that were accepted by now write nothing, and their messages are gone."""
    condition, values = within(reach)
    finish(
        connection,
        f"{condition} AND status IN ('PENDING', 'RUNNING')",
        values,
        status="FAILED",
        error=FORGOTTEN,
        at=at,
    )


def finish(
    connection: sqlite3.Connection,
    condition: str,
    values: Sequence[str | int | None],
    *,
    status: str,
    at: datetime,
    results: str | None = None,
    error: str | None = None,
) -> int:
    """End the learns of a condition and erase their requests; how many."""
    keys = connection.execute(
        f"UPDATE events SET status = ?, results = ?, error = ?, barred = '[]', worker = NULL, lease_until = NULL,"  # noqa: S608 (constants)
        f" completed_at = ? WHERE {condition} RETURNING key",
        [status, results, error, stamp(at), *values],
    ).fetchall()
    connection.executemany("DELETE FROM event_requests WHERE key = ?", keys)
    return len(keys)
