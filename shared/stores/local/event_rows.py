"""Rows of the queue of learns, as records."""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime
from typing import Any

from shared.errors import TooMany
from shared.records import By, Door, Event
from shared.scope import Scope
from shared.stores.queue import Claimed, LearnEvent, Result, Status
from shared.times import moment

SHOWN = "id, user_id, agent_id, status, results, error, note, created_at, started_at, completed_at"


def seen(connection: sqlite3.Connection, scope: Scope, key: str | None) -> LearnEvent | None:
    """The event of an idempotency key of a scope."""
    row = connection.execute(
        f"SELECT {SHOWN} FROM events WHERE user_id = ? AND agent_id = ? AND idempotency_key = ?",  # noqa: S608 (constants)
        (scope.person, scope.application, key),
    ).fetchone()
    return None if row is None else event_of(row)


def refuse_more(connection: sqlite3.Connection, scope: Scope, most: int) -> None:
    """Raises TooMany when a person has so many unfinished learns."""
    unfinished = connection.execute(
        "SELECT count(*) FROM events WHERE user_id = ? AND status IN ('PENDING', 'RUNNING')", (scope.person,)
    ).fetchone()[0]
    if unfinished >= most:
        raise TooMany(f"{most} learns of this person are waiting: let them end first.", retry_after=5)


def claimed_of(row: tuple[Any, ...]) -> Claimed:
    """A learn as its worker gets it."""
    event_id, person, application, actor, door, epoch, attempts, request = row
    return Claimed(
        id=event_id,
        scope=Scope(person, application),
        request=json.loads(request),
        by=By(actor, Door(door)),
        epoch=epoch,
        attempt=attempts,
    )


def event_of(row: tuple[Any, ...]) -> LearnEvent:
    """A learn as its person sees it: a row of SHOWN."""
    event_id, person, application, status, results, error, note, created_at, started_at, completed_at = row
    return LearnEvent(
        id=event_id,
        scope=Scope(person, application),
        status=Status(status),
        results=[Result(one["id"], Event(one["event"])) for one in json.loads(results or "[]")],
        error=error,
        note=note,
        created_at=moment(created_at),
        started_at=_moment(started_at),
        completed_at=_moment(completed_at),
    )


def _moment(text: str | None) -> datetime | None:
    return None if text is None else moment(text)
