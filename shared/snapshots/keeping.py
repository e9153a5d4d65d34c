"""The use cases of a person's whole memory: look at it, save, take in, restore, forget a snapshot, erase everything."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

from shared.access import Access, AccessRecord
from shared.errors import NotFound, TooLarge
from shared.records import By
from shared.scope import Everything
from shared.snapshots.document import Current
from shared.snapshots.importing import Importing
from shared.snapshots.sealing import MEMORY_COUNTS, state_id
from shared.stores.states import Erased, Restored, State, StateStore
from shared.times import now, stamp

LARGEST_DOCUMENT = 1024 * 1024 * 1024
"""Bytes of a document that is taken in."""

UNKNOWN = "There is no snapshot by that id."


@dataclass(frozen=True, slots=True)
class Keeping:
    """What the use cases work with."""

    states: StateStore
    record: AccessRecord | None = None
    """Where it is noted who reached another person's memory; None where nobody can."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A snapshot that was taken in."""

    state: State
    graph_left_out: int


async def current(keeping: Keeping, person: Everything, by: By) -> Iterator[bytes]:
    """What is remembered now, as a document. Its id is the one that saving it would give."""
    found = Current(person.person)
    await keeping.states.read(person, found.take)
    await _note(keeping, person, by, "snapshot", sum(found.digest.numbers[name] for name in MEMORY_COUNTS))
    return found.pieces(state_id(person.person, found.digest.value), stamp(now()))


async def save(keeping: Keeping, person: Everything, by: By) -> State:
    """Keep what is remembered now as a snapshot; the same content is kept once. Raises Conflict for too many."""
    state = await keeping.states.save(person, created=stamp(now()))
    await _note(keeping, person, by, "snapshot", memories_in(state))
    return state


async def take_in(keeping: Keeping, person: Everything, by: By, source: AsyncIterator[bytes]) -> Taken:
    """Keep an exported document, or one of contract 002, as a snapshot: it is restored by its id.

    Raises Unreadable, BadValue, TooLarge, Conflict, and then nothing of it is kept.
    """
    importing = Importing(person.person)
    state = await keeping.states.take_in(person, importing.parts(_bounded(source)))
    await _note(keeping, person, by, "import", memories_in(state))
    return Taken(state, importing.graph_left_out)


async def all_of(keeping: Keeping, person: Everything, by: By) -> list[State]:
    """A person's snapshots, newest first."""
    found = await keeping.states.states(person)
    await _note(keeping, person, by, "snapshots", 0)
    return found


async def one(keeping: Keeping, person: Everything, wanted: str, by: By) -> State:
    """A snapshot of a person. Raises NotFound."""
    found = await keeping.states.state(person, wanted)
    if found is None:
        raise NotFound(UNKNOWN)
    await _note(keeping, person, by, "snapshot", memories_in(found))
    return found


async def restore(
    keeping: Keeping, into: Everything, own: Everything, wanted: str, by: By, *, respect_forgotten: bool
) -> tuple[Everything, State, Restored]:
    """Replace everything of a person by a snapshot of theirs, or else by one of the caller's own; and whose it is.

    Raises NotFound.
    """
    for owner in dict.fromkeys((into, own)):
        state = await keeping.states.state(owner, wanted)
        done = None
        if state is not None:
            done = await keeping.states.restore(into, owner, wanted, by, respect_forgotten=respect_forgotten)
        if state is not None and done is not None:
            await _note(keeping, into, by, "restore", done.memories)
            return owner, state, done
    raise NotFound(UNKNOWN)


async def drop(keeping: Keeping, person: Everything, wanted: str, by: By) -> None:
    """Forget a snapshot. Raises NotFound."""
    if not await keeping.states.drop(person, wanted):
        raise NotFound(UNKNOWN)
    await _note(keeping, person, by, "forget_snapshot", 0)


async def erase(keeping: Keeping, person: Everything, by: By, *, allowances: bool, snapshots: bool) -> Erased:
    """Forget everything of a person, in every application."""
    erased = await keeping.states.erase(person, by, allowances=allowances, snapshots=snapshots)
    await _note(keeping, person, by, "erase", erased.memories)
    return erased


def memories_in(state: State) -> int:
    """How many memories a snapshot holds."""
    return sum(state.counts.get(name, 0) for name in MEMORY_COUNTS)


async def _note(keeping: Keeping, person: Everything, by: By, verb: str, memories: int) -> None:
    if keeping.record is not None and by.actor != person.person:
        await keeping.record.note(person, Access(by.actor, verb, by.door, None, memories, now()))


async def _bounded(source: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    size = 0
    async for piece in source:
        size += len(piece)
        if size > LARGEST_DOCUMENT:
            raise TooLarge(f"A document is at most {LARGEST_DOCUMENT // 1024**2} MiB. Nothing was taken in.")
        yield piece
