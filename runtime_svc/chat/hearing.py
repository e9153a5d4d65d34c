"""Hears what the assistant says while it passes, whole or in a stream, so that the turn can be learned from."""

from __future__ import annotations

import json
from typing import Any

_LONGEST = 64_000
"""Code points that are heard of one answer."""


class Heard:
    """The assistant's words of one answer."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._length = 0
        self._whole = False

    @property
    def text(self) -> str:
        """What was said; empty until the answer is whole."""
        return "".join(self._texts) if self._whole else ""

    def answer(self, body: bytes) -> None:
        """A whole answer."""
        self._add(_parsed(body), "message")
        self._whole = True

    def lines(self, some: bytes) -> None:
        """Some lines of a stream of events, each complete."""
        if self._length >= _LONGEST:
            return
        for line in some.splitlines():
            if line.startswith(b"data:"):
                self._add(_parsed(line[5:]), "delta")

    def end(self) -> None:
        """The stream came to its end."""
        self._whole = True

    def _add(self, said: dict[str, Any], member: str) -> None:
        choices = said.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        message = first.get(member) if isinstance(first, dict) and first.get("index", 0) == 0 else None
        text = message.get("content") if isinstance(message, dict) else None
        if isinstance(text, str) and self._length < _LONGEST:
            text = text[: _LONGEST - self._length]
            self._texts.append(text)
            self._length += len(text)


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
