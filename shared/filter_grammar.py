"""The filter language of the Mem0 dialect: what a client sent becomes a `Filter`, or a sentence saying why not.

A filter is an object. Its members are ANDed: a logical operator (`AND` and `OR` with a list, `NOT` with an object or a
list, of which none may hold), or a field with a value (`{"user_id": "ana"}`), or a field with operators
(`{"created_at": {"gte": "2026-01-01", "lt": "2026-02-01"}}`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from shared.errors import BadValue
from shared.filter_fields import FIELDS, Field, metadata
from shared.filters import All, Filter, Named, Node, Not, Some, size

MOST_CONDITIONS = 256
DEEPEST = 10

ALIASES = {
    "userId": "user_id",
    "agentId": "agent_id",
    "appId": "app_id",
    "runId": "run_id",
    "createdAt": "created_at",
    "updatedAt": "updated_at",
    "expirationDate": "expiration_date",
    "memoryIds": "memory_ids",
    "keywordsSearch": "keywords",
    "keywords_search": "keywords",
    "text": "keywords",
}
"""Other names of fields, as released clients send them."""
_SQL_STYLE = frozenset({"=", "==", "!=", "<>", ">", ">=", "<", "<="})
_ALLOWED = ", ".join(["AND", "OR", "NOT", *FIELDS, "metadata"])


def parse(raw: object) -> Filter | None:
    """The checked form of a client's `filters`; None when it says nothing. Raises BadValue, never quoting a value."""
    if raw is None or raw == {}:
        return None
    reader = _Reader()
    root = reader.group(raw, depth=1, positive=True)
    return Filter(root, frozenset(reader.named))


class _Reader:
    """Reads one filter, counting its conditions and noting the entities it asks for."""

    def __init__(self) -> None:
        self.conditions = 0
        self.named: set[Named] = set()

    def group(self, raw: object, *, depth: int, positive: bool) -> Node:
        """An object: all its members together."""
        if not isinstance(raw, Mapping) or not raw:
            raise BadValue("A filter is an object with at least one condition.")
        if depth > DEEPEST:
            raise BadValue(f"A filter nests at most {DEEPEST} deep.")
        members = cast("Mapping[object, object]", raw)
        return _all([self._member(key, value, depth=depth, positive=positive) for key, value in members.items()])

    def _member(self, key: object, value: object, *, depth: int, positive: bool) -> Node:
        if key == "NOT":
            parts = value if isinstance(value, list) else [value]
            return Not(_some(self._parts(parts, depth=depth, positive=not positive)))
        if key in {"AND", "OR"}:
            nodes = self._parts(value, depth=depth, positive=positive)
            return _all(nodes) if key == "AND" else _some(nodes)
        return self._condition(key, value, positive=positive)

    def _parts(self, parts: object, *, depth: int, positive: bool) -> list[Node]:
        if not isinstance(parts, list) or not parts:
            raise BadValue("AND and OR take a list of at least one condition; NOT takes a condition or such a list.")
        return [self.group(part, depth=depth + 1, positive=positive) for part in cast("list[object]", parts)]

    def _condition(self, key: object, value: object, *, positive: bool) -> Node:
        name = ALIASES.get(key, key) if isinstance(key, str) else None
        if name == "metadata":
            return self._counted(metadata(value))
        field = FIELDS.get(name) if name is not None else None
        if field is None:
            raise BadValue(f"Top-level key must be a logical operator or an allowed field: [{_ALLOWED}].")
        operators = _operators(field, value)
        return _all([self._operator(field, operator, operand, positive) for operator, operand in operators.items()])

    def _operator(self, field: Field, operator: object, operand: object, positive: bool) -> Node:  # noqa: FBT001 - passed on
        if operator not in field.operators:
            raise BadValue(_refusal(field, operator))
        negated = operator == "ne"
        node = self._counted(field.read("eq" if negated else str(operator), operand))
        if field.entity and positive is not negated:
            values = operand if isinstance(operand, list) else [operand]
            self.named.update(Named(field.name, "*" if operator == "*" else str(one)) for one in values)
        return Not(node) if negated else node

    def _counted(self, node: Node) -> Node:
        self.conditions += size(node)
        if self.conditions > MOST_CONDITIONS:
            raise BadValue(f"A filter has at most {MOST_CONDITIONS} conditions.")
        return node


def _operators(field: Field, value: object) -> Mapping[object, object]:
    """A field's operators and their operands; a bare value stands for the field's own default."""
    if isinstance(value, Mapping):
        if not value:
            raise BadValue(f"{field.name} has no operator.")
        return cast("Mapping[object, object]", value)
    if isinstance(value, list):
        return {"in": value}
    return {field.bare: value}


def _refusal(field: Field, operator: object) -> str:
    """Why an operator is not taken: with the field's own ones, and a word more for SQL's."""
    hint = " SQL-style operators are not read: write eq, ne, gt, gte, lt or lte." if operator in _SQL_STYLE else ""
    return f"{field.name} takes {', '.join(field.operators)}.{hint}"


def _all(nodes: list[Node]) -> Node:
    return nodes[0] if len(nodes) == 1 else All(tuple(nodes))


def _some(nodes: list[Node]) -> Node:
    return nodes[0] if len(nodes) == 1 else Some(tuple(nodes))
