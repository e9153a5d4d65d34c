"""Memory in conversations: chat completions as the OpenAI clients ask for them, under `/api/v1/llm/gateway`."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Sized
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from aiohttp import web

from runtime_svc.chat.conversation import Conversation, read
from runtime_svc.chat.learning import LONGEST
from runtime_svc.chat.passing import LEFT, pass_on
from runtime_svc.chat.recalling import recall
from runtime_svc.chat.room import HeldBody, Place
from runtime_svc.chat.wishes import Wishes, wishes
from runtime_svc.handlers.turns import reader, turn
from runtime_svc.keys import APPSPECS, CHAT
from shared.errors import NotAllowed, NotAuthenticated, TooLarge, Unreadable, WrongMediaType
from shared.http.accesses import record
from shared.http.auth import CHALLENGE, NOT_SAID, answers_nobody
from shared.http.keys import CALLER, RECORDED
from shared.tokens import NOT_A_PERSON, Nobody

LARGEST = 20 * 1024 * 1024
"""Bytes of a request: pictures stand in it."""
_LONG = 256 * 1024
_ARRIVES_WITHIN = 120.0
"""Seconds: a client that stops in the middle of a long body takes room from others."""

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request, ready to be passed on."""

    wishes: Wishes
    said: str
    """What the user just said; empty when the turn began earlier, or when it is too long to be learned from."""
    body: io.BytesIO = field(repr=False)
    told: str


@answers_nobody
async def completions(request: web.Request) -> web.StreamResponse:
    """What is remembered goes into the context, the provider answers, and the turn is learned from."""
    check_served(request)
    door = request.app[CHAT]
    place = (door.nobodys if isinstance(request[CALLER], Nobody) else door.persons).place()
    try:
        return await _answered(request, await prepare(request, place))
    finally:
        place.leave()


async def _answered(request: web.Request, prepared: Prepared) -> web.StreamResponse:
    door = request.app[CHAT]
    teaching = door.learner.teaching(request[CALLER], prepared.wishes, prepared.said)
    answered = await pass_on(
        request,
        door.provider,
        "/chat/completions",
        prepared.body,
        told={"X-Memory-Recall": prepared.told},
        heard=teaching.heard if door.learner.listens(prepared.wishes, prepared.said) else None,
        ended=teaching.kept,
    )
    if answered.status == LEFT:
        teaching.begin()
    return answered


async def prepare(request: web.Request, place: Place) -> Prepared:
    """Recall, within the time there is for it. Raises what a request is refused for."""
    conversation = await conversation_of(request, place)
    wished = wishes(conversation, request[CALLER], request.headers.get("X-App-Id"), request.app[APPSPECS])
    recalled = await recall(
        reader(request),
        turn(request),
        wished,
        conversation.asked(),
        seconds=request.app[CHAT].recall_seconds,
        record=partial(reached, request, wished.application),
    )
    request[RECORDED] = True
    body = await _aside(conversation.text, conversation.passed_on, recalled.context)
    said = conversation.just_said()
    return Prepared(wished, said if len(said) <= LONGEST else "", HeldBody(body, place), recalled.told)


@answers_nobody
async def models(request: web.Request) -> web.StreamResponse:
    """The provider's models."""
    check_served(request)
    return await pass_on(request, request.app[CHAT].provider, "/models", None, told={}, heard=None)


def check_served(request: web.Request) -> None:
    """Raises NotAuthenticated or NotAllowed for nobody, where the settings say so."""
    caller = request[CALLER]
    if isinstance(caller, Nobody) and not request.app[CHAT].serves_nobody:
        if caller.why == "none":
            raise NotAuthenticated(NOT_SAID, headers=CHALLENGE)
        raise NotAllowed(NOT_A_PERSON)


async def reached(request: web.Request, application: str | None, memories: int) -> None:
    """Keep what was recalled in the access record. Raises Unavailable."""
    await record(request, "recall", memories, application)


async def conversation_of(request: web.Request, place: Place) -> Conversation:
    """The request's conversation. Raises WrongMediaType, TooLarge, Unreadable; Unavailable when there is no room."""
    if not request.content_type.endswith("json"):
        raise WrongMediaType("The body is to be application/json.")
    raw = bytearray()
    try:
        async with asyncio.timeout(_ARRIVES_WITHIN):
            # Not `request.read`: its limit is that of the other routes.
            async for some in request.content.iter_any():
                raw += some
                if len(raw) > LARGEST:
                    raise TooLarge("The body is larger than 20 MiB.")
                place.hold(len(raw))
    except TimeoutError:
        raise Unreadable("The body did not arrive in time.") from None
    return await _aside(raw, read, bytes(raw))


async def _aside(measure: Sized, work: Callable[[_Given], _Made], given: _Given) -> _Made:
    """Work on a body: off the event loop when it is long."""
    return await asyncio.to_thread(work, given) if len(measure) > _LONG else work(given)
