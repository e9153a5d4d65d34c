"""Learning, under `/api/v1/apps/memories/{app}`: accepted with 202, or learned while the caller waits."""

from __future__ import annotations

from typing import Any

from aiohttp import web
from pydantic import Field

from runtime_svc import learning
from runtime_svc.handlers.apps import by, noted, scope
from runtime_svc.keys import APPSPECS, LEARNING
from runtime_svc.lesson import Lesson, said_at
from runtime_svc.ports import Message
from shared.errors import BadValue
from shared.http import body
from shared.http.answers import answer
from shared.stores.queue import LearnEvent
from shared.times import expiration


class SaidMessage(body.Body):
    """One message of a conversation."""

    role: str = Field(min_length=1, max_length=64)
    content: str
    name: str | None = Field(default=None, min_length=1, max_length=255)
    timestamp: str | None = None


class Learn(body.Body):
    """What is to be learned."""

    memory: str | None = None
    messages: list[SaidMessage] | None = Field(default=None, max_length=1000)
    metadata: dict[str, Any] = Field(default_factory=dict)
    run_id: str | None = Field(default=None, min_length=1, max_length=255)
    expiration_date: str | None = None
    timestamp: str | None = None
    infer: bool = True
    custom_instructions: str | None = Field(default=None, max_length=10_000)
    wait: bool = False


async def learn(request: web.Request) -> web.Response:
    """Accept what is said, where the application remembers at all; with `wait`, learn it first."""
    said, key = await body.read(request, Learn), idempotency_key(request)
    request.app[APPSPECS].check_remembers(scope(request).application)
    learned = await learning.learn(
        request.app[LEARNING], scope(request), _lesson(said), by(request), wait=said.wait, idempotency_key=key
    )
    noted(request, len(learned.outcomes or ()))
    if learned.outcomes is None:
        return answer(accepted(learned.event), status=202)
    return answer({"results": [{"id": o.id, "memory": o.words, "event": o.event} for o in learned.outcomes]})


def accepted(event: LearnEvent | None) -> dict[str, str]:
    """What a caller is told of a learn that has not ended: the event to ask for."""
    return {} if event is None else {"event_id": event.id, "status": event.status}


def idempotency_key(request: web.Request) -> str | None:
    """The header that makes a retry safe. Raises BadValue."""
    keys = request.headers.getall("Idempotency-Key", [])
    if not keys:
        return None
    if len(keys) > 1 or not 0 < len(keys[0]) <= 255 or not (keys[0].isascii() and keys[0].isprintable()):
        raise BadValue("Idempotency-Key is 1 to 255 printable ASCII characters.")
    return keys[0]


def _lesson(said: Learn) -> Lesson:
    if (said.memory is None) == (said.messages is None):
        raise BadValue("Learn says either memory or messages.")
    return Lesson(
        memory=said.memory,
        messages=[_message(one) for one in said.messages or ()],
        run_id=said.run_id,
        metadata=said.metadata,
        expiration_date=None if said.expiration_date is None else expiration(said.expiration_date),
        learned_at=None if said.timestamp is None else said_at(said.timestamp),
        infer=said.infer,
        instructions=said.custom_instructions,
    )


def _message(said: SaidMessage) -> Message:
    return Message(said.role, said.content, said.name, None if said.timestamp is None else said_at(said.timestamp))
