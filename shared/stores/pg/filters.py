"""A filter as a PostgreSQL condition over the memory table. Needs PostgreSQL 17 (`pg_c_utf8`, `pg_input_is_valid`).

Everything a client sent is a parameter. No expression casts what is stored without having checked it, and none is ever
NULL, so `NOT` is the complement.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from shared.filters import (
    STORED_DATE,
    STORED_TIME,
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


def condition(where: Filter | None, parameters: list[object]) -> str:
    """The condition, to be ANDed into a statement on `id`, `payload` and `created_at`.

    Its values are appended to `parameters`, the statement's own, and referred to by their place among them. `TRUE` for
    None.
    """
    return "TRUE" if where is None else _Compiler(parameters).node(where.root)


class _Compiler:
    def __init__(self, parameters: list[object]) -> None:
        self.parameters = parameters

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
        self.parameters.append(value)
        return f"${len(self.parameters)}"


_LEARNED = "nullif(created_at, '')"  # the column is '' where the payload's time cannot be read
_UPDATED = "(payload ->> 'updated_at')"
_ZONED = f"({_UPDATED} || CASE WHEN {_UPDATED} ~ '[Z+]|-[0-9]{{2}}:[0-9]{{2}}$' THEN '' ELSE 'Z' END)"
_CLOCKS: dict[Clock, str] = {
    "created_at": _LEARNED,
    "updated_at": (
        f"coalesce(CASE WHEN {_UPDATED} ~ '^{STORED_TIME}$' THEN"
        f" CASE WHEN pg_input_is_valid({_ZONED}, 'timestamptz') THEN"
        f""" to_char({_ZONED}::timestamptz AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') END END,"""
        f' {_LEARNED}) COLLATE "C"'
    ),
    "expiration_date": f"substring(payload ->> 'expiration_date' from '^{STORED_DATE}') COLLATE \"C\"",
}
