"""A checked condition on memories: a small frozen tree that every engine evaluates to the same answer.

`shared.filter_grammar` makes one of what a client sent; `shared.filter_matching` evaluates it in Python; each store
compiles it to SQL beside its own statements. The scope is pinned outside the tree, in the store's own statement: a tree
only ever narrows.

Every leaf is true or false, never unknown: a missing key makes a leaf false. So `Not` is exactly the complement, and
`ne` holds for a memory that lacks the key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Scalar = str | bool | int | float
"""What payload values are compared with. Text equals text, numbers numbers, booleans booleans; nothing is cast."""

Clock = Literal["created_at", "updated_at", "expiration_date"]
"""The times of a memory. `updated_at` is `created_at` until something changed."""


@dataclass(frozen=True, slots=True)
class Equals:
    """The payload's value under `key` equals one of `values`."""

    key: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Present:
    """The payload has a value under `key`, and it is not null."""

    key: str


@dataclass(frozen=True, slots=True)
class Holds:
    """The payload's list under `key` has an element that equals one of `values`."""

    key: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Contains:
    """`needle` stands in the payload's text under `key`, or in a text element of its list."""

    key: str
    needle: str
    fold: bool = False
    """Case does not matter. The needle is folded already, see `fold`."""


@dataclass(frozen=True, slots=True)
class Between:
    """`start <= the memory's time < end`, in stored form; an end that is None is open. False when there is no time."""

    clock: Clock
    start: str | None
    end: str | None


@dataclass(frozen=True, slots=True)
class Among:
    """The memory's id is one of `ids` (UUIDs, lower case)."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class All:
    """Every one of `nodes` holds; true of none."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """At least one of `nodes` holds; false of none."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """`node` does not hold: exactly the memories that it leaves out."""

    node: Node


Leaf = Equals | Present | Holds | Contains | Between | Among
Node = Leaf | All | Some | Not

NOTHING = Some(())
"""The condition that no memory meets."""


@dataclass(frozen=True, slots=True)
class Named:
    """An entity that a filter asks for: `user_id`, `agent_id`, `app_id` or `run_id`, and its value (`*` for any)."""

    entity: str
    value: str


@dataclass(frozen=True, slots=True)
class Filter:
    """A checked condition on memories, evaluated inside a scope that it can never widen."""

    root: Node
    named: frozenset[Named] = frozenset()
    """The entities asked for, those under an odd number of negations left out."""

    def values_of(self, entity: str) -> frozenset[str]:
        """The values of one entity that the filter asks for, `*` among them when any will do."""
        return frozenset(named.value for named in self.named if named.entity == entity)


def size(node: Node) -> int:
    """How many leaves a tree has."""
    if isinstance(node, All | Some):
        return sum(size(one) for one in node.nodes)
    return size(node.node) if isinstance(node, Not) else 1


def every(*filters: Filter | None) -> Filter | None:
    """The filter that holds where all of these hold; None when there is none."""
    given = [one for one in filters if one is not None]
    if len(given) < 2:
        return given[0] if given else None
    return Filter(All(tuple(one.root for one in given)), frozenset().union(*(one.named for one in given)))


def fold(text: str) -> str:
    """A text without its case, letter by letter, as PostgreSQL's `pg_c_utf8` folds it (no context, no growing)."""
    return text.replace("İ", "i").replace("Σ", "σ").lower()
