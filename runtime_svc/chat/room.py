"""Room for the long bodies of conversations: what is held of them at once, by persons and by nobody apart."""

from __future__ import annotations

import io

from shared.errors import Unavailable

_SHORT = 1024 * 1024
"""Bytes of a body that need no room: as much as any other route takes."""

MOST_OF_PERSONS, MOST_OF_NOBODY = 512 * 1024 * 1024, 128 * 1024 * 1024
_FULL = "Too many long conversations come at once. Try again in a moment."


class Room:
    """Bytes that may be held at once."""

    def __init__(self, most: int) -> None:
        self._left = most

    def place(self) -> Place:
        """For one body."""
        return Place(self)

    def take(self, size: int) -> None:
        """Raises Unavailable when so much is not left."""
        if size > self._left:
            raise Unavailable(_FULL)
        self._left -= size

    def give_back(self, size: int) -> None:
        """It is held no longer."""
        self._left += size


class Place:
    """What one body takes of the room, as it comes."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._taken = 0

    def hold(self, size: int) -> None:
        """The body is so long by now. Raises Unavailable when there is no room for it."""
        more = max(size - _SHORT, 0) - self._taken
        if more > 0:
            self._room.take(more)
            self._taken += more

    def leave(self) -> None:
        """The body is let go of; a second time does nothing."""
        self._room.give_back(self._taken)
        self._taken = 0


class HeldBody(io.BytesIO):
    """A body that leaves its place when it is closed: a stream goes on for long without it."""

    def __init__(self, body: bytes, place: Place) -> None:
        super().__init__(body)
        self._place = place

    def close(self) -> None:
        """Let go of the bytes and of the room."""
        super().close()
        self._place.leave()
