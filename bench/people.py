"""The people of the measurements: one with 200 memories, one with 20,000 where there is room, others with the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from shared.payloads import Details, new_payload
from shared.records import Vector
from shared.scope import Scope
from shared.times import stamp

DIMENSIONS = 384
APPLICATION = "app:notes"
ANA = Scope("ana", APPLICATION)
"""Has 200 memories, whatever the others have."""
BIG = Scope("big", APPLICATION)
"""Has 20,000 memories, where everybody together has more than twice that."""
HERS = 200
BIGS = 20_000
PERSONS = 5_000
_SENTENCES = 4_000
_TOPICS = 300
_HER_TOPICS = 12
_BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
_VOCABULARY = [
    first + middle + last
    for first in ("bra", "co", "del", "fi", "gro", "ha", "ji", "lu", "mer", "no", "pa", "ri", "sto", "tu", "va")
    for middle in ("ba", "chi", "do", "fe", "gu", "ka", "li", "mo", "ne", "pri", "ra", "su", "ti", "vo")
    for last in ("ck", "d", "lf", "m", "nt", "p", "rk", "sh", "t", "x")
]
"""2,100 words, used as words are: the commonest in a third of all sentences."""
_SHARES = 1 / np.arange(5, 5 + len(_VOCABULARY))


@dataclass(frozen=True, slots=True)
class Row:
    """One memory as both tables keep it."""

    id: UUID
    vector: Vector
    payload: dict[str, Any]


class People:
    """Draws the same memories for the same seed, in an order that mixes the people."""

    def __init__(self, rows: int, seed: int = 11) -> None:
        self.rows = rows
        self._chance = np.random.default_rng(seed)
        self._topics = [self._topic() for _ in range(_TOPICS)]
        self._hers = [self._topic() for _ in range(_HER_TOPICS)]
        self._sentences = [self._sentence() for _ in range(_SENTENCES)]

    @property
    def has_big(self) -> bool:
        return self.rows > 2 * BIGS

    def all(self) -> Iterator[Row]:
        """Every memory, newest last."""
        owners = np.concatenate(
            [
                np.full(HERS, -1),
                np.full(BIGS if self.has_big else 0, -2),
                np.arange(self.rows - HERS - (BIGS if self.has_big else 0)) % PERSONS,
            ]
        )
        self._chance.shuffle(owners)
        for number, owner in enumerate(owners):
            yield self._row(number, int(owner))

    def words(self) -> str:
        """New words, never said before."""
        return f"{self._words(14)} number {self._chance.integers(10**9)}"

    def question(self) -> str:
        """What somebody may look for."""
        return self._words(6)

    def _words(self, count: int) -> str:
        return " ".join(self._chance.choice(_VOCABULARY, count, p=_SHARES / _SHARES.sum()))

    def vector_of_hers(self) -> Vector:
        """What she has many memories near to."""
        return self._near(self._hers[int(self._chance.integers(_HER_TOPICS))])

    def unusual(self) -> Vector:
        """What others remember, and she does not."""
        return self._near(self._topics[int(self._chance.integers(_TOPICS))])

    def _row(self, number: int, owner: int) -> Row:
        scope = ANA if owner == -1 else BIG if owner == -2 else Scope(f"person{owner}", APPLICATION)
        topics = self._hers if owner == -1 else self._topics
        at = stamp(_BEGAN + timedelta(seconds=20 * number))
        payload = {
            **self._sentences[number % _SENTENCES],
            "user_id": scope.person,
            "agent_id": scope.application,
            "created_at": at,
            "updated_at": at,
        }
        return Row(UUID(bytes=self._chance.bytes(16), version=4), self._near(topics[number % len(topics)]), payload)

    def _sentence(self) -> dict[str, Any]:
        return new_payload(self.words(), Details(metadata={"source": "bench"}), now=_BEGAN)

    def _topic(self) -> NDArray[np.float32]:
        return _unit(self._chance.standard_normal(DIMENSIONS, dtype=np.float32))

    def _near(self, centre: NDArray[np.float32], spread: float = 0.8) -> NDArray[np.float32]:
        noise = self._chance.standard_normal(DIMENSIONS, dtype=np.float32)
        return _unit(centre + np.float32(spread / DIMENSIONS**0.5) * noise)


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)
