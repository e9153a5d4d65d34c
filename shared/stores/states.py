"""What a store promises of a person's whole memory: snapshots of it, restoring one, and erasing everything.

Person first in every method: a snapshot of somebody else is unknown. Every method may raise `Unavailable`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from shared.records import By
from shared.scope import Everything
from shared.snapshots.entries import Entry
from shared.snapshots.sealing import Part

MOST_STATES = 100
"""How many snapshots a person may have."""

NOT_EMBEDDED = "none"
"""What `vector_of` says of a memory that came without a vector of ours: it is of no words."""


ERASED = "Everything was erased while it was taken in. Nothing was taken in."


@dataclass(frozen=True, slots=True)
class State:
    """A snapshot, without its content."""

    id: str
    created: str
    """As `shared.times.stamp` writes it, or as an imported document said."""
    digest: str
    """Of its content: equal for equal content, whoever it is of."""
    counts: Mapping[str, int]
    size: int
    """Bytes, as it is kept."""
    parts: int


@dataclass(frozen=True, slots=True)
class Sealed:
    """What makes an upload a snapshot, known at its end."""

    id: str | None
    """The id that it came with; None: the id of its content."""
    created: str
    digest: str
    counts: Mapping[str, int]
    size: int


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did."""

    memories: int
    came_back: int
    """Memories forgotten since the snapshot, which are remembered again."""
    left_out: int
    """Memories forgotten since the snapshot, which stay forgotten, as was asked."""
    replaced: int
    """Memories of before that are not in the snapshot, and so are no longer remembered."""
    not_embedded: int
    """Memories whose vectors are missing or of another embedder: found by their words until they are embedded again."""


@dataclass(frozen=True, slots=True)
class Erased:
    """How much was erased of a person."""

    memories: int
    data: int
    allowances: int
    snapshots: int
    held_by_snapshots: int
    """How many of the person's snapshots still hold something of it."""


class StateStore(Protocol):
    """The snapshots of people, and a person's memory as a whole."""

    async def read(self, person: Everything, take: Callable[[Sequence[Entry]], None]) -> None:
        """Give everything of a person, as it is at one moment, in the order of a snapshot, some entries at a time."""

    async def save(self, person: Everything, *, created: str) -> State:
        """Keep everything as a snapshot; one with the same content is kept once. Raises Conflict for too many."""

    async def take_in(self, person: Everything, parts: AsyncIterator[Part | Sealed]) -> State:
        """Keep a snapshot that is uploaded: parts, then what seals it; whatever they raise, nothing is kept.

        The same one again is kept once. Raises Conflict for too many, and for another one with the same id.
        """

    async def states(self, person: Everything) -> list[State]:
        """The person's snapshots, newest first."""

    async def state(self, person: Everything, state_id: str) -> State | None:
        """One; None when unknown, malformed, or somebody else's."""

    async def part(self, person: Everything, state_id: str, number: int) -> bytes | None:
        """One part of a snapshot's content, counted from 0; None when there is none."""

    async def drop(self, person: Everything, state_id: str) -> bool:
        """Forget a snapshot; False when unknown."""

    async def restore(
        self, into: Everything, owner: Everything, state_id: str, by: By, *, respect_forgotten: bool
    ) -> Restored | None:
        """Replace everything of `into` by the owner's snapshot, in one transaction; None when it is unknown.

        Allowances are replaced only when the person does it themself. Into another person, every memory gets an id of
        its own. The person's epoch is raised, and learns in flight write nothing.
        """

    async def erase(self, person: Everything, by: By, *, allowances: bool, snapshots: bool) -> Erased:
        """Forget everything of a person in every application, with a receipt; the epoch is raised."""
