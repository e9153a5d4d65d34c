"""The recall block: what an application puts before its LLM so that the LLM knows the person.

A first line, then a line a memory. The words of a memory are what anybody may have said: they never make a line of
their own, nor look like the header, a date of ours, or a boundary between instructions.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime

from shared.errors import BadValue
from shared.records import Memory
from shared.times import moment

HEADER = "[Relevant memories about this user:]"

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_PIECE = re.compile(r"[A-Za-z]+|[0-9]+|[^\sA-Za-z0-9]")
_SPACES = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b\u2028\u2029]+")
_UNSEEN = dict.fromkeys(
    [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x61C, *range(0xE0000, 0xE0020)]
)
"""Marks that turn the direction of text or carry a hidden one; the joiners of emoji and scripts stay."""
_PARENTHESES = str.maketrans("()", "[]")

_FORGED = (
    (re.compile(r"[\[［](?=\W*relevant\W+memor)", re.IGNORECASE), "("),
    (re.compile(r"[(（](?=\W*(?:remembered|updated)\W)", re.IGNORECASE), "["),
    (re.compile(r"[\[［](?=[/\s]*(?:inst|sys|system|user|assistant|human|tool|developer|end)\b)", re.IGNORECASE), "("),
    (re.compile(r"[<＜](?=[/|!?<＜\w])"), "‹"),
    (re.compile(r"\|[>＞]"), "|›"),
    (re.compile(r"```+|~~~+"), "''"),
    (re.compile(r"#{2,}(?=\s*\w)"), "#"),
)
"""What words could be mistaken for: the header, our dates, and how chat formats part their roles. Each is bent, none is
dropped: the memory stays readable."""


def block(
    memories: Sequence[Memory],
    *,
    timestamps: bool = True,
    max_tokens: int | None = None,
    marks: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """The block for memories, best first; empty when there is nothing to say.

    `marks` has, by a memory's id, what else stands in its parenthesis (`remembered by: app:travel`). Of `max_tokens`
    (counted by `tokens`) each memory takes all it needs or, when that is more than is left, nothing.
    """
    room = None if max_tokens is None else max_tokens - tokens(HEADER)
    lines: list[str] = []
    for memory in memories:
        line = _line(memory, timestamps=timestamps, marks=(marks or {}).get(memory.id, ()))
        if line is None:
            continue
        if room is not None:
            if (cost := tokens(line) + 1) > room:
                continue
            room -= cost
        lines.append(line)
    return "\n".join([HEADER, *lines]) if lines else ""


def tokens(text: str) -> int:
    """How many tokens a text is taken for, without any model's tokenizer, rather too many than too few.

    One for each six letters of a word, three digits or sign, begun; of other scripts, one for each two bytes of UTF-8.
    """
    return sum(map(_cost, _PIECE.findall(text))) + text.count("\n")


def one_line(words: str) -> str:
    """Words as they may stand in a prompt: one line that cannot pass for anything but words."""
    readable = words.encode("utf-8", "replace").decode("utf-8").translate(_UNSEEN)
    line = _SPACES.sub(" ", readable).strip()
    for pattern, harmless in _FORGED:
        line = pattern.sub(harmless, line)
    return line


def _line(memory: Memory, *, timestamps: bool, marks: Sequence[str]) -> str | None:
    words = one_line(memory.words)
    if not any(unicodedata.category(c)[0] not in "ZC" for c in words):
        return None
    notes = [*(_dates(memory) if timestamps else ()), *(one_line(mark).translate(_PARENTHESES) for mark in marks)]
    return f"- {words} ({', '.join(notes)})" if notes else f"- {words}"


def _dates(memory: Memory) -> list[str]:
    created, updated = _moment(memory.created_at), _moment(memory.updated_at)
    notes = []
    if created is not None:
        notes.append(f"remembered: {_shown(created)}")
    if updated is not None and created is not None and updated > created:
        notes.append(f"updated: {_shown(updated)}")
    return notes


def _moment(text: str | None) -> datetime | None:
    """A stored time; None when another client wrote what is none."""
    try:
        return None if text is None else moment(text)
    except BadValue:
        return None


def _shown(at: datetime) -> str:
    """`Feb 15, 2025 at 10:00 AM UTC`, whatever the locale of the process."""
    half = "AM" if at.hour < 12 else "PM"
    return f"{_MONTHS[at.month - 1]} {at.day}, {at.year} at {at.hour % 12 or 12}:{at.minute:02} {half} UTC"


def _cost(piece: str) -> int:
    if piece[0].isascii():
        return -(-len(piece) // (6 if piece[0].isalpha() else 3))
    return -(-len(piece.encode()) // 2)
