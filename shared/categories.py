"""Categories of a memory without an LLM: those whose description lies nearest to its meaning."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.records import Vector
from shared.stores.ports import Embedder

DEFAULT: Mapping[str, str] = {
    "personal_details": "name, age, birthday, address, where the user lives, phone number, nationality, language",
    "family": "family members: wife, husband, mother, father, sister, brother, children, grandparents, relatives",
    "professional_details": "job, profession, employer, colleagues, work experience, career, company, studies, degree",
    "sports": "sports, training, running, football, tennis, swimming, gym, matches, teams, competitions",
    "travel": "travel, trips, flights, hotels, vacations, countries and cities to visit",
    "food": "food, cooking, diet, restaurants, meals, drinks, favourite dishes, vegetarian",
    "music": "music, songs, bands, concerts, playing an instrument, singing",
    "health": "health, illness, allergies, medication, doctors, sleep, injuries, therapy",
    "technology": "technology, computers, programming, software, phones, gadgets, devices",
    "hobbies": "hobbies and pastimes: gardening, painting, reading books, knitting, chess, photography, collecting",
    "fashion": "fashion, clothes, shoes, outfits, style, jewellery",
    "entertainment": "entertainment, films, television series, video games, theatre, streaming shows",
    "milestones": "milestones: wedding, graduation, birth of a child, anniversary, promotion, moving house, retirement",
    "user_preferences": "the user prefers: how answers, tone, format, settings, notifications and times should be",
}
"""The default catalogue of the Mem0 Platform, `misc` apart: what each is about."""

MISC = "misc"
"""What a memory is in when it is near none."""

_NEAR = 0.1
_BESIDE = 0.03
_MOST = 2
_PARTS = re.compile(r"[,:;、，]|\band\b")
_MOST_PARTS = 24
"""Of a description: a custom one may be of any length."""


@dataclass(frozen=True, slots=True)
class _Category:
    name: str
    whole: Vector
    parts: NDArray[np.float32]

    def nearness(self, vector: Vector) -> float:
        """The mean of the cosine to the whole description and to its nearest part."""
        return (float(self.whole @ vector) + float((self.parts @ vector).max())) / 2


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Categories to sort memories by, with the vectors of their descriptions. Made by `catalogue`."""

    categories: Sequence[_Category]


async def catalogue(embedder: Embedder, described: Mapping[str, str]) -> Catalogue:
    """A catalogue of categories with their descriptions, which may be empty."""
    texts = [_texts(name, description) for name, description in described.items()]
    vectors = iter(await embedder.embed([text for of_one in texts for text in of_one]))
    made = []
    for name, of_one in zip(described, texts, strict=True):
        whole, *parts = (next(vectors) for _ in of_one)
        made.append(_Category(name, whole, np.array(parts, dtype=np.float32)))
    return Catalogue(made)


def categories_of(vector: Vector, known: Catalogue) -> list[str]:
    """The nearest category, and a second one about as near; `misc` when none is near."""
    nearest = sorted(((one.nearness(vector), one.name) for one in known.categories), key=lambda one: -one[0])[:_MOST]
    least = max(_NEAR, nearest[0][0] - _BESIDE) if nearest else _NEAR
    return [name for nearness, name in nearest if nearness >= least] or [MISC]


def _texts(name: str, description: str) -> list[str]:
    """The whole description, then its parts: the name and what commas part."""
    readable = name.replace("_", " ").strip()
    parts = [part.strip() for part in _PARTS.split(description) if part.strip()]
    return [f"{readable}: {description}" if description else readable, readable, *parts[:_MOST_PARTS]]
