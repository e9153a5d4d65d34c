"""The mem0 library, imported once with everything of it switched off that reports, logs, downloads or keeps."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from runtime_svc.engine.store_bridge import observed_on

_LOADING = threading.Lock()

# Their records hold messages and memories, at WARNING and above too.
_TALKATIVE = ("mem0",)
# Their DEBUG records hold whole requests.
_TALKATIVE_WHEN_DEBUGGING = ("openai", "httpx", "httpcore", "anthropic", "groq", "litellm", "botocore", "urllib3")


def load() -> Any:
    """`mem0.memory.main`, quiet. Takes one to two seconds the first time: never call it on the event loop."""
    with _LOADING:
        if (already := sys.modules.get("mem0.memory.main")) is not None and hasattr(already, "_quiet"):
            return already
        with _own_directory():
            import mem0.memory.main as library  # noqa: PLC0415 (heavy: loaded only where an LLM is configured)
            from mem0.memory import telemetry  # noqa: PLC0415 (the same)
        telemetry.MEM0_TELEMETRY = library.MEM0_TELEMETRY = False  # had somebody imported it before us
        _silence()
        _switch_off(library)
        library._quiet = True  # noqa: SLF001 (our own mark)
        return library


@contextmanager
def _own_directory() -> Iterator[None]:
    """mem0 makes a directory and writes a config.json as it is imported: one that is gone afterwards.

    Both variables are mem0's and are read as it is imported, which is why they are set here and not among the settings.
    """
    os.environ["MEM0_TELEMETRY"] = "False"
    if "MEM0_DIR" in os.environ:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="mem0-", ignore_cleanup_errors=True) as directory:
        os.environ["MEM0_DIR"] = directory
        yield


def _silence() -> None:
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    for name in _TALKATIVE_WHEN_DEBUGGING:
        logging.getLogger(name).setLevel(logging.WARNING)


def _switch_off(library: Any) -> None:
    """Replace what mem0's pipeline calls by name: the version is pinned exactly, and the tests learn through it."""
    library.SQLiteManager = NoHistory
    library.extract_entities = _nothing  # spaCy would download a model
    library.extract_entities_batch = _nothing
    library.lemmatize_for_bm25 = _unchanged  # the same; lexemes are made by shared.words
    library.generate_additive_extraction_prompt = _dated(library.generate_additive_extraction_prompt)


def _nothing(_: object) -> list[object]:
    return []


def _unchanged(text: str) -> str:
    return text


def _dated(generate: Callable[..., str]) -> Callable[..., str]:
    """mem0 resolves "yesterday" against today's date in UTC; the conversation took place when the caller says."""

    def prompt(**kwargs: Any) -> str:
        return generate(**{**kwargs, "timestamp": observed_on()})

    return prompt


class NoHistory:
    """In the place of mem0's SQLite history, which keeps words after they were deleted, and the last raw messages."""

    def __init__(self, path: str) -> None:
        del path

    def get_last_messages(self, session: str, limit: int = 10) -> list[dict[str, Any]]:
        """None: the caller sends the context that it wants used."""
        del session, limit
        return []

    def save_messages(self, messages: Sequence[object], session: str) -> None:
        """Keeps nothing."""

    def batch_add_history(self, records: Sequence[object]) -> None:
        """Keeps nothing: the store writes history in the transaction of the memories."""
