"""Whether categories told without an LLM are right, on a labelled set of our own: `python -m bench.categories`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from runtime_svc.engine.embedder import MiniLM
from shared.categories import DEFAULT, catalogue, categories_of

LABELLED = Path(__file__).parent / "categories.json"


async def main() -> None:
    data = json.loads(LABELLED.read_text())
    custom = data["custom"]
    print(f"{'catalogue':12}{'memories':>9}{'first right':>13}{'precision':>11}{'recall':>8}{'F1':>7}")
    for name, described, labelled in (
        ("default", DEFAULT, data["default"]),
        ("custom", custom["catalogue"], custom["labelled"]),
    ):
        first, precision, recall = await measure(described, labelled)
        f1 = 2 * precision * recall / (precision + recall)
        print(f"{name:12}{len(labelled):9}{first:13.3f}{precision:11.3f}{recall:8.3f}{f1:7.3f}")


async def measure(described: Mapping[str, str], labelled: Sequence[Sequence[str]]) -> tuple[float, float, float]:
    """How often the first category is right, and precision and recall of all that are told."""
    embedder = await MiniLM.open()
    known = await catalogue(embedder, described)
    vectors = await embedder.embed([words for words, _ in labelled])
    await embedder.close()
    told = [categories_of(vector, known) for vector in vectors]
    right = [set(labels.split()) for _, labels in labelled]
    hits = sum(len(set(t) & r) for t, r in zip(told, right, strict=True))
    first = sum(t[0] in r for t, r in zip(told, right, strict=True)) / len(labelled)
    return first, hits / sum(map(len, told)), hits / sum(map(len, right))


if __name__ == "__main__":
    asyncio.run(main())
