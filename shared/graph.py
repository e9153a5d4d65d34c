"""The graph of what memories name: entities, and which of them are mentioned together. Computed, kept nowhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any
from uuid import UUID, uuid5

from shared.named import Named
from shared.records import Memory
from shared.scope import PREFIX

MENTIONED_WITH = "MENTIONED_WITH"
"""How two entities that one memory names are related: no more than that is known."""

MOST_NAMED = 8
"""Entities of one memory: pairs grow with the square."""

_MOST_NODES = 2_000
_MOST_RELATIONSHIPS = 10_000
_MOST_MEMORIES = 20
_NAMESPACE = UUID("6f6f0b1e-3f0e-5d1c-9a55-3a2f6f6c0b03")


@dataclass(slots=True)
class Graph:
    """Of one person: taken memory by memory. An entity of one application is never one of another's.

    Bounded, first come: of a very large memory the first nodes, the first relationships, and the first memories of
    each are shown; `count` tells of all of them.
    """

    person: str
    _nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    _relationships: dict[str, dict[str, Any]] = field(default_factory=dict)

    def take(self, memory: Memory, shown_id: str) -> None:
        """The entities of one more memory, which is shown by this id."""
        named = distinct(memory.named)
        nodes = [node for one in named if (node := self._node(memory.application, one)) is not None]
        for source, target in combinations(sorted(nodes), 2):
            self._relate(source, target, shown_id)

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """Each entity of each application."""
        return list(self._nodes.values())

    @property
    def relationships(self) -> list[dict[str, Any]]:
        """Each two that a memory mentions together, with the memories that do; it has no direction."""
        return list(self._relationships.values())

    def _node(self, application: str, one: Named) -> str | None:
        node_id = self._id("node", application, one.name.casefold())
        if node_id not in self._nodes:
            if len(self._nodes) >= _MOST_NODES:
                return None
            ref = application.removeprefix(PREFIX)
            self._nodes[node_id] = {"id": node_id, "name": one.name, "type": one.type, "agentRef": ref}
        return node_id

    def _relate(self, source: str, target: str, shown_id: str) -> None:
        link_id = self._id(MENTIONED_WITH, source, target)
        if link_id not in self._relationships:
            if len(self._relationships) >= _MOST_RELATIONSHIPS:
                return
            self._relationships[link_id] = {
                "id": link_id,
                "source": source,
                "target": target,
                "type": MENTIONED_WITH,
                "count": 0,
                "memories": [],
            }
        link = self._relationships[link_id]
        link["count"] += 1
        if len(link["memories"]) < _MOST_MEMORIES:
            link["memories"].append(shown_id)

    def _id(self, *parts: str) -> str:
        return str(uuid5(_NAMESPACE, "\n".join((self.person, *parts))))


def distinct(named: Iterable[Named]) -> list[Named]:
    """The first of each name, upper or lower case, and no more than a memory keeps."""
    found: dict[str, Named] = {}
    for one in named:
        found.setdefault(one.name.casefold(), one)
    return list(found.values())[:MOST_NAMED]


def relations(memories: Sequence[Memory]) -> list[dict[str, str]]:
    """What is mentioned together in some memories, by name, once each."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for memory in memories:
        for one, other in combinations(sorted(distinct(memory.named), key=lambda named: named.name.casefold()), 2):
            found.setdefault((one.name.casefold(), other.name.casefold()), (one.name, other.name))
    return [{"source": one, "relationship": MENTIONED_WITH, "target": other} for one, other in found.values()]
