"""Rows that a search found, as candidates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import asyncpg

from shared.candidates import Candidate
from shared.stores.pg.reading import memory
from shared.words import lexemes as lexemes_of


def candidates_of(rows: Iterable[asyncpg.Record], lexemes: Sequence[str]) -> list[Candidate]:
    """Of rows of (id, payload, distance, length, before, after)."""
    wanted = frozenset(lexemes)
    return [_candidate(row, lexemes, wanted) for row in rows]


def _candidate(row: asyncpg.Record, lexemes: Sequence[str], wanted: frozenset[str]) -> Candidate:
    found = memory(row)
    stored = found.payload.get("text_lemmatized")
    words = stored.split() if isinstance(stored, str) else lexemes_of(found.words)
    there = wanted.intersection(words)
    distance, before, after = row["distance"], row["before"], row["after"]
    return Candidate(
        found,
        None if distance is None or math.isnan(distance) else 1.0 - float(distance),
        [words.count(lexeme) if lexeme in there else 0 for lexeme in lexemes] if there else [0] * len(lexemes),
        row["length"],
        () if before is None and after is None else [str(near) for near in (before, after) if near is not None],
    )
