"""The fields that a filter may name: which operators each takes, and what they mean in the stored payload."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from shared.errors import BadValue
from shared.filter_values import canonical_uuid, date_span, plain_list, plain_scalar, plain_text, time_span
from shared.filters import (
    NOTHING,
    All,
    Among,
    Between,
    Clock,
    Contains,
    Equals,
    Holds,
    Node,
    Not,
    Present,
    Some,
    fold,
)
from shared.records import RESERVED
from shared.scope import PREFIX

_ENTITY = ("eq", "ne", "in", "*")
_TIME = ("gt", "gte", "lt", "lte", "eq", "ne", "in")


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the language. `read` makes a node of an operator (never `ne`: that is the complement of `eq`)."""

    name: str
    operators: tuple[str, ...]
    read: Callable[[str, object], Node]
    bare: str = "eq"
    """The operator that a value without one stands for."""
    entity: bool = False


def _entity(name: str, key: str, *, whole: Callable[[Node], Node] = lambda node: node, prefix: str = "") -> Field:
    """An entity id: text under a payload key. `*`, wherever it stands, is any value that is not null."""

    def read(operator: str, operand: object) -> Node:
        if operator == "*":
            return whole(Present(key))
        values = (
            [plain_text(one, name) for one in plain_list(operand, name)]
            if operator == "in"
            else [plain_text(operand, name)]
        )
        if "*" in values:
            return whole(Present(key))
        if prefix and any(value.startswith(prefix) for value in values):
            raise BadValue(f"{name} is the application's uid, without {prefix}.")
        return whole(Equals(key, tuple(prefix + value for value in values)))

    return Field(name, _ENTITY, read, entity=True)


def _users_own(node: Node) -> Node:
    """A fact is the user's or the agent's: one with an inner agent is shown with that agent and without the user."""
    return All((node, Not(Present("inner_agent"))))


def _time(name: str, clock: Clock) -> Field:
    """A time, or a date, which is the whole of that UTC day: `lte` a date includes it, `gt` starts after it."""
    span_of = date_span if clock == "expiration_date" else time_span

    def read(operator: str, operand: object) -> Node:
        if operator == "in":
            return Some(tuple(read("eq", one) for one in plain_list(operand, name)))
        start, end = span_of(operand, name)
        if operator == "gt":
            return NOTHING if end is None else Between(clock, end, None)
        bounds = {"eq": (start, end), "gte": (start, None), "lt": (None, start), "lte": (None, end)}
        return Between(clock, *bounds[operator])

    return Field(name, _TIME, read)


def _categories(operator: str, operand: object) -> Node:
    if operator == "in":
        return Holds("categories", tuple(plain_text(one, "categories") for one in plain_list(operand, "categories")))
    text = plain_text(operand, "categories")
    return Holds("categories", (text,)) if operator == "eq" else _containing("categories", operator, text)


def _keywords(operator: str, operand: object) -> Node:
    return _containing("data", operator, plain_text(operand, "keywords"))


def _memory_ids(_operator: str, operand: object) -> Node:
    """Ids that are no UUID are nobody's: they match nothing."""
    ids = (plain_text(one, "memory_ids") for one in plain_list(operand, "memory_ids"))
    return Among(tuple(dict.fromkeys(found for one in ids if (found := canonical_uuid(one)) is not None)))


FIELDS: Mapping[str, Field] = {
    field.name: field
    for field in (
        _entity("user_id", "user_id", whole=_users_own),
        _entity("agent_id", "inner_agent"),
        _entity("app_id", "agent_id", prefix=PREFIX),
        _entity("run_id", "run_id"),
        _time("created_at", "created_at"),
        _time("updated_at", "updated_at"),
        _time("timestamp", "created_at"),  # what an add gives as `timestamp` is kept as its creation
        _time("expiration_date", "expiration_date"),
        Field("categories", ("eq", "ne", "in", "contains", "icontains"), _categories),
        Field("keywords", ("contains", "icontains"), _keywords, bare="contains"),
        Field("memory_ids", ("in",), _memory_ids, bare="in"),
    )
}


def metadata(value: object) -> Node:
    """A condition on the client's own top-level keys.

    `{key: value}`, `{key: {operator: value}}`, or `{operator: {key: value}}`. A bare `*` is any value but null.
    """
    if not isinstance(value, Mapping) or not value:
        raise BadValue("metadata takes an object of its top-level keys.")
    return _together([_metadata_member(key, wanted) for key, wanted in cast("Mapping[object, object]", value).items()])


_WORDS = frozenset({"eq", "ne", "in", "nin", "gt", "gte", "lt", "lte", "contains", "icontains"})


def _metadata_member(key: object, wanted: object) -> Node:
    if key not in _WORDS and not isinstance(wanted, Mapping):
        return _metadata_key(key, "*" if wanted == "*" else "eq", wanted)
    if not isinstance(wanted, Mapping) or not wanted:
        raise BadValue("metadata takes {key: value} or {key: {operator: value}}, with eq, ne or contains.")
    pairs = cast("Mapping[object, object]", wanted)
    if key not in _WORDS:
        return _together([_metadata_key(key, operator, operand) for operator, operand in pairs.items()])
    if key == "ne":  # the complement of all the pairs together
        return Not(_together([_metadata_key(name, "eq", operand) for name, operand in pairs.items()]))
    return _together([_metadata_key(name, key, operand) for name, operand in pairs.items()])


def _metadata_key(key: object, operator: object, operand: object) -> Node:
    name = plain_text(key, "A metadata key")
    if operator not in {"eq", "ne", "contains", "*"}:
        raise BadValue("metadata takes eq, ne and contains, on its top-level keys only.")
    if operator == "ne":
        return Not(_metadata_key(name, "eq", operand))
    if operator == "*":
        leaf: Node = Present(name)
    elif operator == "contains" and isinstance(operand, str):
        leaf = Contains(name, plain_text(operand, "metadata"))
    else:
        value = (plain_scalar(operand),)
        leaf = Holds(name, value) if operator == "contains" else Equals(name, value)
    # A key of the service's own is never among the client's metadata.
    return NOTHING if name in RESERVED else leaf


def _containing(key: str, operator: str, text: str) -> Node:
    return Contains(key, fold(text), fold=True) if operator == "icontains" else Contains(key, text)


def _together(nodes: list[Node]) -> Node:
    return nodes[0] if len(nodes) == 1 else All(tuple(nodes))
