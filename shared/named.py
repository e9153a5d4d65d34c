"""Entities that memories name, as a payload keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Named:
    """A person, a place, a thing; its type is the extractor's word for what it is."""

    name: str
    type: str


def naming(named: Sequence[Named]) -> Mapping[str, Any]:
    """The payload member that keeps which entities a memory names; None, which removes it, when there are none."""
    return {"named_entities": [{"name": one.name, "type": one.type} for one in named] or None}


def named_in(payload: Mapping[str, Any]) -> list[Named]:
    """What `naming` kept; whatever else stands there, for a stock client writes any key, is none."""
    told = payload.get("named_entities")
    found = [one for one in told if isinstance(one, Mapping)] if isinstance(told, list) else []
    pairs = [(one.get("name"), one.get("type")) for one in found]
    return [Named(name, kind) for name, kind in pairs if isinstance(name, str) and isinstance(kind, str) and name]
