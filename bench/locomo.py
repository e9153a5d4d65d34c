"""LoCoMo conversations as memories: a turn is a memory, a session a run, a conversation a person."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean
from typing import Any

Figures = Mapping[str, float]
"""recall@5, recall@10, recall@20, mrr (of the first twenty) and how many questions."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What was said, as `[8 May 2023] Caroline: words`."""

    id: str
    run_id: str
    said_at: datetime
    words: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what answers it; multi-hop (1), temporal (2), open (3), single-hop (4), adversarial (5)."""

    words: str
    evidence: frozenset[str]
    category: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """One person's memories and the questions about them."""

    person: str
    turns: Sequence[Turn]
    questions: Sequence[Question]


def read(path: Path) -> list[Conversation]:
    """The conversations of a file in the form of `locomo10.json`."""
    return [_conversation(given) for given in json.loads(path.read_text())]


def _conversation(given: Mapping[str, Any]) -> Conversation:
    turns = list(_turns(given["conversation"]))
    known = {turn.id for turn in turns}
    questions = [
        Question(asked["question"], frozenset(asked.get("evidence", ())) & known, int(asked["category"]))
        for asked in given["qa"]
    ]
    return Conversation(str(given["sample_id"]), turns, [question for question in questions if question.evidence])


def _turns(conversation: Mapping[str, Any]) -> Iterator[Turn]:
    for number in range(1, len(conversation)):
        session = f"session_{number}"
        if session not in conversation:
            continue
        began = datetime.strptime(conversation[f"{session}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for at, turn in enumerate(conversation[session]):
            shared = f" [shared image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            words = f"[{began.day} {began:%B %Y}] {turn['speaker']}: {turn['text']}{shared}"
            yield Turn(turn["dia_id"], session, began + timedelta(seconds=at), words)


class Tally:
    """Figures of one path, by category."""

    def __init__(self) -> None:
        self._rows: defaultdict[str, list[tuple[float, ...]]] = defaultdict(list)

    def count(self, question: Question, found: Sequence[str]) -> None:
        """Count one question by the turns that were found for it, best first."""
        place = {turn: rank for rank, turn in enumerate(found[:20], start=1)}
        of_evidence = [place[turn] for turn in question.evidence if turn in place]
        recalls = (sum(rank <= k for rank in of_evidence) / len(question.evidence) for k in (5, 10, 20))
        row = (*recalls, 1 / min(of_evidence) if of_evidence else 0.0)
        self._rows[str(question.category)].append(row)
        if question.category != 5:
            self._rows["1-4"].append(row)

    def figures(self) -> dict[str, Figures]:
        """By category, and `1-4` for all but the adversarial."""
        names = ("recall@5", "recall@10", "recall@20", "mrr")
        return {
            category: {
                **{name: round(mean(column), 4) for name, column in zip(names, zip(*rows, strict=True), strict=True)},
                "questions": len(rows),
            }
            for category, rows in sorted(self._rows.items())
        }
