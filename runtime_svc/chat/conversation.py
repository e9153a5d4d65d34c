"""A chat completion as a client asks for it: read as far as memory needs, and passed on byte for byte beside that."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shared.errors import TooLarge, Unreadable

OURS = frozenset({"mem0_config", "app_id", "learn"})
"""Members that are said to us: they are not passed on."""

_MOST_PARTS = 300_000
"""Values of a body, about: pictures are long and few; to read a list of millions would hold everybody up."""
_READ = OURS | {"messages"}
_BEFORE_US = ("system", "developer")
_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of the body: its value, and where it stands in the text."""

    value: Any
    start: int
    value_start: int
    end: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """One request. What is not ours is never parsed and written again: numbers, escapes and order stay as they came."""

    text: str
    members: Sequence[tuple[str, _Member]]
    said: Mapping[str, Any]
    """What is said to us, and the messages."""

    @property
    def messages(self) -> list[Any]:
        """Empty where there are none, or what stands there is no list: the provider says so then."""
        found = self.said.get("messages")
        return found if isinstance(found, list) else []

    def asked(self) -> str:
        """The text of the last message of the user; empty when there is none."""
        users = [message for message in self.messages if _role(message) == "user"]
        return _text(users[-1].get("content")) if users else ""

    def just_said(self) -> str:
        """The text of the last message when it is the user's: what a turn begins with."""
        return self.asked() if self.messages and _role(self.messages[-1]) == "user" else ""

    def passed_on(self, context: str) -> bytes:
        """The body for the provider, without what is ours.

        A context becomes a system message after those that the caller begins with.
        """
        kept = [self._written(name, member, context) for name, member in self.members if name not in OURS]
        return f"{{{','.join(kept)}}}".encode()

    def _written(self, name: str, member: _Member, context: str) -> str:
        if name != "messages" or not context or not self.messages:
            return self.text[member.start : member.end]
        at = member.value_start + 1
        leading = next((n for n, one in enumerate(self.messages) if _role(one) not in _BEFORE_US), len(self.messages))
        for _ in range(leading):
            at = _DECODER.raw_decode(self.text, _past(self.text, at, ","))[1]
        ours = json.dumps({"role": "system", "content": context}, ensure_ascii=False)
        placed = f",{ours}" if leading else f"{ours},"
        return self.text[member.start : at] + placed + self.text[at : member.end]


def read(raw: bytes) -> Conversation:
    """The body of a request. Raises Unreadable, and TooLarge for one of too many values."""
    if sum(map(raw.count, (b",", b"[", b"{"))) > _MOST_PARTS:
        raise TooLarge("The body has too many values.")
    try:
        text = raw.decode()
        members = _members(text)
    except UnicodeDecodeError as error:
        raise Unreadable("The body is not UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise Unreadable("The body is not a JSON object.") from error
    names = [name for name, _ in members if name in _READ]
    if len(names) != len(set(names)):
        raise Unreadable("The body has a member twice.")
    return Conversation(text, members, {name: member.value for name, member in members if name in _READ})


def _members(text: str) -> list[tuple[str, _Member]]:
    """The members of the object that a text is. Raises ValueError, RecursionError."""
    at = _past(text, 0, "{", needed=True)
    found: list[tuple[str, _Member]] = []
    while text[at : at + 1] != "}":
        if found:
            at = _past(text, at, ",", needed=True)
        start = at
        name, at = _DECODER.raw_decode(text, at)
        if not isinstance(name, str):
            raise ValueError("a name is not a string")  # noqa: TRY004 (all that is no JSON is a ValueError)
        value_start = _past(text, at, ":", needed=True)
        value, end = _DECODER.raw_decode(text, value_start)
        # A value that memory does not look at is let go of: pictures are large.
        found.append((name, _Member(value if name in _READ else None, start, value_start, end)))
        at = _past(text, end, "")
    if _past(text, at + 1, "") != len(text):
        raise ValueError("something follows the object")
    return found


def _past(text: str, at: int, sign: str, *, needed: bool = False) -> int:
    """Where the next token begins after white space and a sign. Raises ValueError when it is needed and absent."""
    at = _SPACE.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing too
    if sign and text.startswith(sign, at):
        return _SPACE.match(text, at + 1).end()  # type: ignore[union-attr]  # the same
    if needed:
        raise ValueError(f"{sign} is missing")
    return at


def _role(message: object) -> str:
    role = message.get("role") if isinstance(message, dict) else None
    return role if isinstance(role, str) else ""


def _text(content: object) -> str:
    """What a message says in words: its content, or the texts among its parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))
