"""The learn queue as other writes touch it: a learn ends with its memories, and forgetting reaches what is queued."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from shared.errors import ForgottenMeanwhile
from shared.payloads import hash_of
from shared.records import Change, Outcome
from shared.scope import Reach, Scope
from shared.stores import barring
from shared.stores.barring import FORGOTTEN
from shared.stores.local.overflow import padding
from shared.stores.local.rows import json_text
from shared.stores.local.scopes import within
from shared.times import stamp

_ENDED = "lease_until = NULL, worker = NULL, barred = '[]'"


def keep_request(connection: sqlite3.Connection, event_id: str, request: dict[str, Any]) -> None:
    """The raw messages of an event that was just accepted, apart from it: they are erased before it is."""
    text = json_text(request)
    blank, fill = padding([event_id], [text])
    connection.execute(
        "INSERT INTO requests (event_id, blank, request, fill) VALUES (?, ?, ?, ?)", (event_id, blank, text, fill)
    )


def erase_requests(connection: sqlite3.Connection) -> None:
    """The raw messages of every event that has ended: in the transaction that ends them."""
    connection.execute("DELETE FROM requests WHERE event_id IN (SELECT id FROM events WHERE completed_at IS NOT NULL)")


def unbarred(
    connection: sqlite3.Connection, scope: Scope, event_id: str, changes: Sequence[Change]
) -> Sequence[Change]:
    """Without what says again what was forgotten after the learn was accepted.

    Raises ForgottenMeanwhile when it no longer runs.
    """
    row = connection.execute(
        "SELECT barred FROM events WHERE user_id = ? AND agent_id = ? AND id = ? AND status = 'RUNNING'",
        (scope.person, scope.application, event_id),
    ).fetchone()
    if row is None:
        raise ForgottenMeanwhile(FORGOTTEN)
    return barring.unbarred(changes, frozenset(json.loads(row[0])))


def end(connection: sqlite3.Connection, scope: Scope, event_id: str, outcomes: Sequence[Outcome], at: datetime) -> None:
    """In the transaction that keeps its memories. The raw messages go; the results name ids, never words."""
    results = json.dumps([{"id": outcome.id, "event": outcome.event} for outcome in outcomes])
    connection.execute(
        f"UPDATE events SET status = 'SUCCEEDED', results = ?, error = NULL, {_ENDED}, completed_at = ?"  # noqa: S608 (constant)
        " WHERE user_id = ? AND agent_id = ? AND id = ?",
        (results, stamp(at), scope.person, scope.application, event_id),
    )
    erase_requests(connection)


def bar(connection: sqlite3.Connection, scope: Scope, words: str) -> None:
    """Learns of the scope that were accepted by now do not bring these words back."""
    connection.execute(
        "UPDATE events SET barred = json_insert(barred, '$[#]', ?)"
        " WHERE user_id = ? AND agent_id = ? AND status IN ('PENDING', 'RUNNING')",
        (hash_of(words), scope.person, scope.application),
    )


def drop_unfinished(connection: sqlite3.Connection, reach: Reach, at: datetime) -> None:
    """Learns that were accepted by now write nothing, and their messages are gone."""
    condition, values = within(reach)
    connection.execute(
        f"UPDATE events SET status = 'FAILED', error = ?, {_ENDED}, completed_at = ?"  # noqa: S608 (constants)
        f" WHERE {condition} AND status IN ('PENDING', 'RUNNING')",
        [FORGOTTEN, stamp(at), *values],
    )
    erase_requests(connection)


def release(connection: sqlite3.Connection) -> None:
    """When the store is opened nobody runs a learn: what a killed process had may be taken at once."""
    connection.execute("UPDATE events SET lease_until = '' WHERE status = 'RUNNING'")
