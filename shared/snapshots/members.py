"""Reads one large JSON object as it arrives: its members in order, and of lists their elements, one at a time."""

from __future__ import annotations

import asyncio
import codecs
import json
import math
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Literal
from weakref import WeakKeyDictionary

from shared.errors import TooLarge, Unreadable

LARGEST_ELEMENT = 16 * 1024 * 1024
"""Characters of one element: what is held of a document at once."""

LONG = 16 * 1024
"""Characters of an element from which on it is read and looked at off the event loop."""

_LARGE = 1024 * 1024
"""Characters of an element from which on there is one at a time: as values it takes fifty times its length."""

_MOST_LISTS, _MOST_COMMAS = 500_000, 4_000_000
"""In one element: to read more of them at once holds everybody up."""

_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
"""Who has the large element of this process."""

_BROKEN = "The document is cut short, or is not valid JSON. Nothing was taken in."
_SPACE = " \t\n\r"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Unreadable("The document has a name twice in one object. Nothing was taken in.")
    return found


def _refused(_: str) -> float:
    raise Unreadable(_BROKEN)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise Unreadable(_BROKEN)
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refused, parse_float=_finite)


@dataclass(frozen=True, slots=True)
class Member:
    """One member of the object: a value, the beginning of a list, or an element of it."""

    name: str
    shape: Literal["value", "list", "element"]
    value: Any = None
    size: int = 0
    """Characters of an element."""


@dataclass(slots=True)
class Members:
    """The members of one object; see `read`."""

    source: AsyncIterator[bytes]
    _text: str = ""
    _at: int = 0
    _ended: bool = False
    _length: int = 0
    _decode: Any = field(default_factory=codecs.getincrementaldecoder("utf-8"))
    _turn: asyncio.Lock | None = None

    async def read(self) -> AsyncGenerator[Member]:
        """Each member; a list as its beginning and then each element. Raises Unreadable.

        What is given is let go of before the next is asked for: it may be large, and another waits for its turn.
        """
        try:
            async for member in self._object():
                yield member
                del member
        finally:
            self._let_go()

    async def _object(self) -> AsyncIterator[Member]:
        await self._expect("{")
        if await self._peek() == "}":
            self._at += 1
        else:
            async for member in self._members():
                yield member
                del member
        if await self._peek(at_end=True) is not None:
            raise Unreadable(_BROKEN)

    async def _members(self) -> AsyncIterator[Member]:
        named: set[str] = set()
        more = True
        while more:
            name = await self._value()
            if not isinstance(name, str) or name in named or len(named) > 100:
                raise Unreadable(_BROKEN)
            named.add(name)
            await self._expect(":")
            if await self._peek() == "[":
                yield Member(name, "list")
                async for element in self._elements(name):
                    yield element
                    del element
            else:
                yield Member(name, "value", await self._value())
                self._let_go()
            more = await self._another("}")

    async def _elements(self, name: str) -> AsyncIterator[Member]:
        await self._expect("[")
        if await self._peek() == "]":
            self._at += 1
            return
        yield await self._element(name)
        self._let_go()
        while await self._another("]"):
            yield await self._element(name)
            self._let_go()

    async def _element(self, name: str) -> Member:
        await self._peek()
        value = await self._value()
        return Member(name, "element", value, self._length)

    async def _another(self, closing: str) -> bool:
        found = await self._peek()
        self._at += 1
        if found not in (",", closing):
            raise Unreadable(_BROKEN)
        return found == ","

    async def _expect(self, character: str) -> None:
        if await self._peek() != character:
            raise Unreadable(_BROKEN)
        self._at += 1

    async def _peek(self, *, at_end: bool = False) -> str | None:
        """The next character that is no white space; None at the end, where there may be one."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return self._text[self._at]
                self._at += 1
            if not await self._more(1):
                if at_end:
                    return None
                raise Unreadable(_BROKEN)

    async def _value(self) -> Any:
        """The next value. One that has not arrived whole is tried again when there is twice as much of it."""
        await self._peek()
        while True:
            held = len(self._text) - self._at
            if held > _LARGE:
                await self._take_turn()
            value, end = await asyncio.to_thread(self._decoded) if held > LONG else self._decoded()
            # A number that ends where the text does may go on.
            if end < len(self._text):
                self._length, self._at = end - self._at, end
                return value
            del value
            self._let_go()  # nobody waits for a client that is slow
            if held > LARGEST_ELEMENT or not await self._more(max(held, 1)):
                raise Unreadable(_BROKEN)

    def _decoded(self) -> tuple[Any, int]:
        """What begins here, and where it ends: at the end of the text when it has not arrived whole."""
        if self._count("[") + self._count("{") > _MOST_LISTS or self._count(",") > _MOST_COMMAS:
            raise TooLarge("A unit of it has too many values. Nothing was taken in.")
        try:
            return _DECODER.raw_decode(self._text, self._at)
        except (ValueError, RecursionError):
            return None, len(self._text)

    def _count(self, sign: str) -> int:
        return self._text.count(sign, self._at) if len(self._text) - self._at > LONG else 0

    async def _take_turn(self) -> None:
        turn = _turns.setdefault(asyncio.get_running_loop(), asyncio.Lock())
        await turn.acquire()
        self._turn = turn

    def _let_go(self) -> None:
        if self._turn is not None:
            self._turn.release()
            self._turn = None

    async def _more(self, least: int) -> bool:
        """Have more of the text, without what was read; False when there is none."""
        self._text, self._at = self._text[self._at :], 0
        got = 0
        pieces = [self._text]
        while got < least and not self._ended:
            text = await self._next()
            got += len(text)
            pieces.append(text)
        self._text = "".join(pieces)
        return got > 0

    async def _next(self) -> str:
        try:
            piece = await anext(self.source, None)
            self._ended = piece is None
            return str(self._decode.decode(piece or b"", final=piece is None))
        except UnicodeDecodeError as error:
            raise Unreadable("The document is not UTF-8. Nothing was taken in.") from error
