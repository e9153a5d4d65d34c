"""A filter as a PostgreSQL condition over the memory table. `pg_c_utf8` needs PostgreSQL 17.

Everything a client sent is a parameter. No expression casts what is stored without having checked it, and none is ever
NULL, so `NOT` is the complement.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from shared.filters import (
    All,
    Among,
    Between,
    Clock,
    Contains,
    Equals,
    Filter,
    Holds,
    Node,
    Not,
    Present,
    Scalar,
    Some,
)


def condition(where: Filter, values: list[object]) -> str:
    """The condition, to be ANDed into a statement on the memory table.

    Its values are appended to the statement's own, and referred to by their place among them.
    """
    return _Compiler(values).node(where.root)


class _Compiler:
    def __init__(self, values: list[object]) -> None:
        self.values = values

    def node(self, node: Node) -> str:  # noqa: PLR0911 - one line for each kind of node
        match node:
            case All(nodes):
                return self._joined(nodes, " AND ", empty="TRUE")
            case Some(nodes):
                return self._joined(nodes, " OR ", empty="FALSE")
            case Not(inner):
                return f"NOT {self.node(inner)}"
            case Equals(key, values):
                return f"coalesce({self._value(key)} = ANY({self._json(values)}), FALSE)"
            case Present(key):
                return f"coalesce(jsonb_typeof({self._value(key)}) <> 'null', FALSE)"
            case Holds(key, values):
                return f"coalesce({self._value(key)} @> ANY({self._json([[one] for one in values])}), FALSE)"
            case Contains(key, needle, fold):
                return self._contains(key, needle, fold=fold)
            case Between(clock, start, end):
                return self._between(clock, start, end)
            case Among(ids):
                return f"id = ANY({self._place(list(ids))}::uuid[])"

    def _joined(self, nodes: Iterable[Node], operator: str, *, empty: str) -> str:
        return f"({operator.join(self.node(one) for one in nodes) or empty})"

    def _contains(self, key: str, needle: str, *, fold: bool) -> str:
        value, wanted = self._value(key), f"{self._place(needle)}::text"
        text = """lower((x.value #>> '{}') COLLATE "pg_c_utf8")""" if fold else "(x.value #>> '{}')"
        return (
            f"EXISTS (SELECT FROM jsonb_array_elements(CASE jsonb_typeof({value}) WHEN 'array' THEN {value}"
            f" WHEN 'string' THEN jsonb_build_array({value}) END) AS x"
            f" WHERE jsonb_typeof(x.value) = 'string' AND strpos({text}, {wanted}) > 0)"
        )

    def _between(self, clock: Clock, start: str | None, end: str | None) -> str:
        time = _CLOCKS[clock]
        bounds = [f"{time} >= {self._place(start)}::text"] if start is not None else []
        bounds += [f"{time} < {self._place(end)}::text"] if end is not None else []
        return f"coalesce({' AND '.join(bounds) or f'{time} IS NOT NULL'}, FALSE)"

    def _value(self, key: str) -> str:
        return f"(payload -> {self._place(key)}::text)"

    def _json(self, values: Iterable[Scalar | list[Scalar]]) -> str:
        return f"{self._place([json.dumps(one) for one in values])}::text[]::jsonb[]"

    def _place(self, value: object) -> str:
        self.values.append(value)
        return f"${len(self.values)}"


# The derived columns hold '' and NULL for what cannot be read as a time.
_CREATED = "nullif(created_at, '')"
_CLOCKS: dict[Clock, str] = {
    "created_at": _CREATED,
    "updated_at": f"coalesce(runtime_memory.utc_stamp(payload ->> 'updated_at') COLLATE \"C\", {_CREATED})",
    "expiration_date": "expires_on",
}
