"""Reads what a stock mem0 client kept with FAISS: `<name>.faiss` beside `<name>.json`, or an older `<name>.pkl`."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Never

import numpy as np
from numpy.typing import NDArray

from shared.errors import CannotStartError
from shared.stores.local.flat import read_vectors

_DERIVED = ("_entities", "-entities", "mem0migrations")
"""Ends of the names of what mem0 derives from memories, or keeps for itself."""


@dataclass(frozen=True, slots=True)
class StockRow:
    """A memory as the stock client kept it; no vector when it cannot be told which one is its."""

    id: str
    payload: Mapping[str, Any]
    vector: NDArray[np.float32] | None


@dataclass(frozen=True, slots=True)
class StockCollection:
    """One pair of files."""

    name: str
    version: str
    """Changes when a file does."""
    rows: list[StockRow]


def pairs(directory: Path) -> Iterator[tuple[Path, Path]]:
    """The pairs of files in a directory: the index, and the words beside it."""
    for index in sorted(directory.glob("*.faiss")):
        words = next((path for end in (".json", ".pkl") if (path := index.with_suffix(end)).is_file()), None)
        if words is not None and not index.stem.endswith(_DERIVED):
            yield index, words


def version_of(index: Path, words: Path) -> str:
    """What tells that neither file changed, without reading them."""
    return " ".join(f"{stat.st_size}:{stat.st_mtime_ns}" for stat in (index.stat(), words.stat()))


def read(index: Path, words: Path) -> StockCollection:
    """One pair. Raises CannotStartError when the words are torn; a torn index costs its vectors only."""
    version = version_of(index, words)
    documents, places = _documents(words)
    vectors = read_vectors(index)
    if vectors is not None and (len(vectors) != len(places) or set(places) != set(range(len(vectors)))):
        # The two files are of different moments: which vector is whose cannot be told, and a wrong one finds wrongly.
        vectors = None
    of = {memory_id: position for position, memory_id in places.items()} if vectors is not None else {}
    rows = [
        StockRow(memory_id, payload, vectors[of[memory_id]] if vectors is not None and memory_id in of else None)
        for memory_id, payload in documents.items()
    ]
    return StockCollection(index.stem, version, rows)


def _documents(path: Path) -> tuple[dict[str, dict[str, Any]], dict[int, str]]:
    try:
        read_as = _json if path.suffix == ".json" else _pickle
        documents, places = read_as(path)
        checked = {str(memory_id): dict(payload) for memory_id, payload in documents.items()}
        return checked, {int(position): str(memory_id) for position, memory_id in places.items()}
    except (ValueError, TypeError, AttributeError, KeyError, EOFError, RecursionError, pickle.UnpicklingError) as error:
        raise CannotStartError(
            f"{path} cannot be read: it is cut short or damaged. Restore it from a copy, or move it away."
        ) from error


def _json(path: Path) -> tuple[Any, Any]:
    content = json.loads(path.read_text(encoding="utf-8"))
    return content["docstore"], content["index_to_id"]


def _pickle(path: Path) -> tuple[Any, Any]:
    with path.open("rb") as file:
        documents, places = _Plain(file).load()
    return documents, places


class _Plain(pickle.Unpickler):
    """Makes dictionaries, lists, texts and numbers; whatever names a class or a function is refused, not looked up."""

    def find_class(self, module_name: str, global_name: str) -> Never:
        raise pickle.UnpicklingError(f"{module_name}.{global_name} is no plain value.")

    def persistent_load(self, pid: object) -> Never:
        raise pickle.UnpicklingError(f"{type(pid).__name__}: nothing is loaded from elsewhere.")
