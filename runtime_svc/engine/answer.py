"""Reads what an LLM answered, and keeps only what can be remembered. mem0 takes broken JSON for "nothing said"."""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from runtime_svc.ports import LearnFailed
from shared.errors import BadValue
from shared.wording import LEARNED_LONGEST, learned_words

MOST_FACTS = 200
"""Of one answer. mem0's prompt asks for a fact a topic: more is an LLM that runs wild."""

_LONGEST = 4_000_000
_THOUGHTS = re.compile(r"<think>.*?</think>", re.DOTALL)
_START = re.compile(r'\{\s*"memory"')


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing to remember, and whom it is about or from, as the LLM attributed it."""

    words: str
    attributed_to: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """The facts of an answer, in its order and without repetition, and what was left out."""

    facts: Sequence[Fact]
    left_out: str | None


def read_answer(answer: object) -> Answer:
    """The facts of an LLM's answer; fenced JSON and text around it are accepted. Raises LearnFailed."""
    text = _text(answer)
    if not text.strip():
        raise LearnFailed("The LLM answered nothing.", may_pass=False)
    if len(text) > _LONGEST:
        raise LearnFailed("The LLM's answer is too long to be read.", may_pass=False)
    for found in _objects(_THOUGHTS.sub("", text)):
        if isinstance(found, dict) and isinstance(found.get("memory"), list):
            return _facts(found["memory"])
    raise LearnFailed('The LLM\'s answer cannot be read: it is not JSON with a list of "memory".', may_pass=False)


def _text(answer: object) -> str:
    """Providers answer with text, or with blocks of it."""
    if isinstance(answer, list):
        return "".join(_text(block.get("text") if isinstance(block, dict) else block) for block in answer)
    return answer if isinstance(answer, str) else ""


def _objects(text: str) -> Iterable[Any]:
    """What may be the answer: the whole text, else the first object in it, else one that starts with its key."""
    starts = [text.find("{"), *(found.start() for found in _START.finditer(text))]
    decoder = json.JSONDecoder(strict=False)
    with contextlib.suppress(ValueError, RecursionError):  # then it stands among other text, or nowhere
        yield decoder.decode(text)
    for start in starts[:4]:
        try:
            yield decoder.raw_decode(text, max(start, 0))[0]
        except (ValueError, RecursionError):
            continue


def _facts(items: Sequence[object]) -> Answer:
    facts: dict[str, Fact] = {}
    left_out: Counter[str] = Counter()
    for item in items:
        read = _fact(item)
        if isinstance(read, str):
            left_out[read] += 1
        elif read.words in facts:
            continue
        elif len(facts) == MOST_FACTS:
            left_out[f"over the {MOST_FACTS} kept of one answer"] += 1
        else:
            facts[read.words] = read
    return Answer(list(facts.values()), _sentence(left_out))


def _fact(item: object) -> Fact | str:
    """A fact, or the clause that says why it is none.

    An LLM adds; an item that asks to change or delete a memory is not carried out, and its text is not a fact.
    """
    said = {"text": item} if isinstance(item, str) else item
    if not isinstance(said, dict) or not isinstance(said.get("text"), str):
        return "not a fact"
    if said.get("event") not in (None, "ADD", "add"):
        return "asking to change or delete"
    try:
        words = learned_words(said["text"])
    except BadValue:
        return f"empty, longer than {LEARNED_LONGEST} characters or with characters that cannot be kept"
    attributed = said.get("attributed_to")
    return Fact(words, attributed if attributed in ("user", "assistant") else None)


def _sentence(left_out: Counter[str]) -> str | None:
    if not left_out:
        return None
    return "Left out of the LLM's answer: " + ", ".join(f"{count} {why}" for why, count in left_out.items()) + "."
