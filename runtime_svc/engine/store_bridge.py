"""Stands in mem0 for a vector store and an embedder: reads go to the caller's scope, writes are only collected."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NoReturn, TypeVar

import numpy as np

from runtime_svc.ports import LearnFailed
from shared.errors import Unavailable
from shared.records import Memory, Vector
from shared.scope import Scope
from shared.stores.ports import Embedder, MemoryStore

T = TypeVar("T")

_LOOKUP = 4_000
"""Code points of a conversation's end by which existing memories are looked up: embedders refuse or cut long texts."""


@dataclass(frozen=True, slots=True)
class Found:
    """An existing memory, in the shape in which mem0 reads it."""

    id: str
    payload: Mapping[str, Any]
    score: float


@dataclass(frozen=True, slots=True)
class Planned:
    """A memory that mem0 decided to insert."""

    id: str
    words: str
    attributed_to: str | None
    vector: Vector


@dataclass(slots=True)
class Turn:
    """One extraction: whose it is, what serves it, and what it has decided so far."""

    scope: Scope
    run_id: str | None
    observed: datetime | None
    store: MemoryStore
    embedder: Embedder
    loop: asyncio.AbstractEventLoop
    """Where the store and the embedder live."""
    deadline: float
    """By `time.monotonic`."""
    plan: list[Planned] = field(default_factory=list)
    left_out: str | None = None
    failure: BaseException | None = None
    """The first failure inside mem0, which goes on after most: whoever started the turn raises it."""

    def ask(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of a coroutine of the service's loop, waited for on a thread of mem0's."""
        _refuse_on_a_loop()
        if self.failure is not None:
            raise self.failure
        future = asyncio.run_coroutine_threadsafe(work(), self.loop)
        try:
            return future.result(max(self.deadline - time.monotonic(), 0))
        except TimeoutError as error:
            future.cancel()
            self.fail(Unavailable("The store or the embedder did not answer in time."), error)
        except Exception as error:  # noqa: BLE001 (kept for the use case: mem0 would log it and go on)
            self.fail(error)

    def fail(self, error: Exception, cause: BaseException | None = None) -> NoReturn:
        """Keep the first failure, and raise this one."""
        self.failure = self.failure or error
        raise error from (None if cause is error else cause)


_TURN: ContextVar[Turn] = ContextVar("turn")


def begin(turn: Turn) -> None:
    """Make it the turn of the current context: of this task, and of the threads that it calls."""
    _TURN.set(turn)


def current() -> Turn:
    """The turn that mem0 is called in. Without one nothing is read: LookupError."""
    return _TURN.get()


def observed_on() -> str | None:
    """When the conversation of the current turn took place, with its offset; None for now."""
    turn = _TURN.get(None)
    return turn.observed.isoformat(timespec="seconds") if turn is not None and turn.observed is not None else None


def _refuse_on_a_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise LearnFailed("A blocking read was asked for on an event loop.", may_pass=False)


class StoreBridge:
    """mem0's vector store, registered by name. It has what mem0's extraction calls and nothing that changes or deletes.

    Whatever filters mem0 passes, only the turn's scope is read.
    """

    def __init__(self, **config: object) -> None:
        del config  # runs on an event loop: no input or output here

    def search(self, query: str, vectors: Sequence[float], top_k: int = 10, filters: object = None) -> list[Found]:
        """The memories of the scope nearest to a conversation; of its run when it has one, as mem0 does."""
        del query, filters
        turn = current()
        vector = np.asarray(vectors, dtype=np.float32)
        limit = top_k if turn.run_id is None else 10 * top_k
        found = turn.ask(lambda: turn.store.candidates(turn.scope, vector=vector, lexemes=(), limit=limit))
        near = [
            _found(each.memory, each.cosine or 0.0)
            for each in sorted(found.found, key=lambda each: -(each.cosine or 0.0))
            if turn.run_id in (None, each.memory.run_id)
        ]
        return near[:top_k]

    def insert(
        self,
        vectors: Sequence[Sequence[float]],
        payloads: Sequence[Mapping[str, Any]],
        ids: Sequence[str],
    ) -> None:
        """Collected: the use case writes them, in one transaction."""
        turn = current()
        for vector, payload, memory_id in zip(vectors, payloads, ids, strict=True):
            kept = np.asarray(vector, dtype=np.float32)
            turn.plan.append(Planned(memory_id, payload["data"], payload.get("attributed_to"), kept))


def _found(memory: Memory, score: float) -> Found:
    # Without the hash: mem0 would drop exact duplicates silently, where the store answers with the id that is kept.
    return Found(memory.id, {"data": memory.words}, score)


class EmbedderBridge:
    """mem0's embedder, registered by name: the service's own."""

    def __init__(self, config: object) -> None:
        self.config = config

    def embed(self, text: str, memory_action: str | None = None) -> Vector:
        """The vector of one text; of a conversation's end only, when it is to look up existing memories."""
        return self.embed_batch([text[-_LOOKUP:] if memory_action == "search" else text])[0]

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[Vector]:
        """The vectors of several."""
        del memory_action
        turn = current()
        return turn.ask(lambda: turn.embedder.embed(texts)) if texts else []
