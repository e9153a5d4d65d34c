"""Which applications remember: what their Appspecs name as memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog
import yaml

from shared.errors import BadValue, Conflict
from shared.scope import application_of

ENABLED = "mem0"
"""The memory of the catalogue that an application can remember with."""

_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_LARGEST = 262_144
_MOST_FILES = 10_000
_LONGEST_NAME = 100
_MEM0_CONFIG = ("enabled", "inject_memory_timestamps")

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Appspec:
    """What an application says of itself that matters here. Its agent's own memory setting does not count."""

    key: str
    """Its key: `app:<uid>`, or `app:<id>` for one that runs from its file."""
    memory: str
    """The memory it names, without a version; empty when it names none."""
    mem0_config: Mapping[str, bool] = field(default_factory=dict)
    """How its conversations use memory, where it says so (contract 003)."""


class Appspecs:
    """The Appspecs of this runtime; None where no directory says so, and then every application remembers."""

    def __init__(self, specs: Iterable[Appspec] | None) -> None:
        self._specs: Mapping[str, Appspec] | None = None if specs is None else {spec.key: spec for spec in specs}

    def why_not(self, application: str) -> str | None:
        """Why an application (its key) remembers nothing between conversations, in a sentence; None when it does."""
        if self._specs is None:
            return None
        spec = self._specs.get(application)
        if spec is None:
            return "This application remembers nothing between conversations: this runtime has no Appspec of it."
        if not spec.memory:
            return "This application remembers nothing between conversations: its Appspec names no memory."
        if spec.memory != ENABLED:
            return (
                f"This application remembers nothing between conversations: the memory '{spec.memory}' that its Appspec"
                f" names is not enabled. {ENABLED} is."
            )
        return None

    def check_remembers(self, application: str) -> None:
        """Raises Conflict for an application (its key) that remembers nothing between conversations."""
        if (why := self.why_not(application)) is not None:
            raise Conflict(why)

    def mem0_config(self, application: str) -> Mapping[str, bool]:
        """How an application's conversations use memory, as far as its Appspec says so."""
        spec = None if self._specs is None else self._specs.get(application)
        return {} if spec is None else spec.mem0_config

    def setup_notes(self, application: str) -> list[str]:
        """What is to be known of an application's memory before it is used, in sentences; none when it remembers."""
        why = self.why_not(application)
        return [] if why is None else [why]


def read_directory(directory: Path) -> Appspecs:
    """The Appspecs in a directory's YAML and JSON files. One that cannot be read is noted and left out.

    Blocking: called once, at start, in a thread. Raises NotADirectoryError.
    """
    if not directory.is_dir():
        raise NotADirectoryError("RUNTIME_APPS_DIR is not a directory.")
    paths = sorted(path for path in directory.iterdir() if path.suffix in _SUFFIXES and path.is_file())[:_MOST_FILES]
    found: dict[str, Appspec] = {}
    for path in paths:
        try:
            spec = appspec(_parsed(path))
        except (OSError, ValueError, RecursionError, yaml.YAMLError, BadValue) as error:
            log.warning("appspec.unread", file=path.name, error=type(error).__name__)
            continue
        if found.setdefault(spec.key, spec) is not spec:
            log.warning("appspec.twice", file=path.name)
    return Appspecs(found.values())


def appspec(document: Any) -> Appspec:
    """What a parsed Appspec says. Raises BadValue when it names no application, or what it says of memory is amiss."""
    if not isinstance(document, dict):
        raise BadValue("An Appspec is an object.")
    memory = document.get("memory")
    if not isinstance(memory, str | None) or len(memory or "") > _LONGEST_NAME:
        raise BadValue(f"An Appspec names its memory by a text of at most {_LONGEST_NAME} characters.")
    uid = document.get("uid")
    key = application_of(document.get("id") if uid in (None, "") else uid)
    return Appspec(key, _unversioned(memory or ""), _mem0_config(document.get("mem0_config")))


def _mem0_config(given: Any) -> dict[str, bool]:
    found = {} if given is None else given
    if not isinstance(found, dict):
        raise BadValue("An Appspec's mem0_config is an object.")
    known = {name: found[name] for name in _MEM0_CONFIG if name in found}
    if not all(isinstance(value, bool) for value in known.values()):
        raise BadValue(f"An Appspec's mem0_config has {' and '.join(_MEM0_CONFIG)}, true or false.")
    return known


def _unversioned(reference: str) -> str:
    """`mem0` of `mem0:0.0.1`."""
    base, _, version = reference.strip().rpartition(":")
    return base if base and "." in version else reference.strip()


def _parsed(path: Path) -> Any:
    with path.open("rb") as file:
        raw = file.read(_LARGEST + 1)
    if len(raw) > _LARGEST:
        raise ValueError("too large")
    return json.loads(raw) if path.suffix == ".json" else yaml.safe_load(raw)
