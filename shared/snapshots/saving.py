"""The use cases of a person's whole memory: look at it, save, take in, restore, forget a snapshot, erase everything."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass

from shared.errors import NotFound, TooLarge
from shared.records import By
from shared.scope import Everything
from shared.snapshots.document import Current
from shared.snapshots.importing import Importing
from shared.snapshots.sealing import MEMORY_COUNTS, state_id
from shared.stores.states import Restored, State, StateStore
from shared.times import now, stamp

LARGEST_DOCUMENT = 512 * 1024 * 1024
"""Bytes of a document that is taken in."""

UNKNOWN = "There is no snapshot by that id."


@dataclass(frozen=True, slots=True)
class Looked:
    """What is remembered now, as the pieces of a document, and how many memories stand in it."""

    pieces: Iterator[bytes]
    memories: int


@dataclass(frozen=True, slots=True)
class Taken:
    """A snapshot that was taken in."""

    state: State
    graph_left_out: int


async def current(states: StateStore, person: Everything) -> Looked:
    """What is remembered now, as a document. Its id is the one that saving it would give."""
    found = Current(person.person)
    await states.read(person, found.take)
    memories = sum(found.digest.numbers[name] for name in MEMORY_COUNTS)
    return Looked(found.pieces(state_id(person.person, found.digest.value), stamp(now())), memories)


async def save(states: StateStore, person: Everything) -> State:
    """Keep what is remembered now as a snapshot; the same content is kept once. Raises Conflict for too many."""
    return await states.save(person, created=stamp(now()))


async def take_in(states: StateStore, person: Everything, source: AsyncIterator[bytes]) -> Taken:
    """Keep an exported document, or one of contract 002, as a snapshot: it is restored by its id.

    Raises Unreadable, BadValue, TooLarge, Conflict, and then nothing of it is kept.
    """
    importing = Importing(person.person)
    async with aclosing(importing.parts(_bounded(source))) as parts:
        state = await states.take_in(person, parts)
    return Taken(state, importing.graph_left_out)


async def one(states: StateStore, person: Everything, wanted: str) -> State:
    """A snapshot of a person. Raises NotFound."""
    found = await states.state(person, wanted)
    if found is None:
        raise NotFound(UNKNOWN)
    return found


async def restore(
    states: StateStore, into: Everything, own: Everything, wanted: str, by: By, *, respect_forgotten: bool
) -> tuple[Everything, State, Restored]:
    """Replace everything of a person by a snapshot of theirs, or else by one of the caller's own; and whose it is.

    Raises NotFound.
    """
    for owner in dict.fromkeys((into, own)):
        state = await states.state(owner, wanted)
        done = None
        if state is not None:
            done = await states.restore(into, owner, wanted, by, respect_forgotten=respect_forgotten)
        if state is not None and done is not None:
            return owner, state, done
    raise NotFound(UNKNOWN)


async def drop(states: StateStore, person: Everything, wanted: str) -> None:
    """Forget a snapshot. Raises NotFound."""
    if not await states.drop(person, wanted):
        raise NotFound(UNKNOWN)


def memories_in(state: State) -> int:
    """How many memories a snapshot holds."""
    return sum(state.counts.get(name, 0) for name in MEMORY_COUNTS)


async def _bounded(source: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    size = 0
    async for piece in source:
        size += len(piece)
        if size > LARGEST_DOCUMENT:
            raise TooLarge(f"A document is at most {LARGEST_DOCUMENT // 1024**2} MiB. Nothing was taken in.")
        yield piece
