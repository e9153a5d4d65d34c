"""A filter as an SQLite condition over the memory table: JSON functions, and two functions of our own.

Everything a client sent is a parameter; none of the expressions is ever NULL, so `NOT` is the complement.
"""

from __future__ import annotations

import json
import sqlite3
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
    fold,
)
from shared.stamps import utc_stamp


def register(connection: sqlite3.Connection) -> None:
    """Give a connection the functions that conditions call; once, when it is opened."""
    connection.create_function("fold_text", 1, fold, deterministic=True)
    connection.create_function("utc_stamp", 1, utc_stamp, deterministic=True)


def condition(where: Filter) -> tuple[str, list[str]]:
    """The condition, to be ANDed into a statement on the memory table, and the values of its `?`."""
    values: list[str] = []
    return _Compiler(values).node(where.root), values


class _Compiler:
    """Appends each value where its `?` is written: the order of the text is the order of the parameters."""

    def __init__(self, values: list[str]) -> None:
        self.values = values

    def node(self, node: Node) -> str:  # noqa: PLR0911 - one line for each kind of node
        match node:
            case All(nodes):
                return self._joined(nodes, " AND ", empty="1")
            case Some(nodes):
                return self._joined(nodes, " OR ", empty="0")
            case Not(inner):
                return f"NOT {self.node(inner)}"
            case Equals(key, values):
                return f"EXISTS ({self._member(key)} AND EXISTS ({self._among('m', values)}))"
            case Present(key):
                return f"EXISTS ({self._member(key)} AND m.type <> 'null')"
            case Holds(key, values):
                return (
                    f"EXISTS ({self._member(key)} AND {_LIST} AND EXISTS ({_ITEM} EXISTS ({self._among('x', values)})))"
                )
            case Contains(key, needle, folded):
                return f"EXISTS ({self._member(key)} AND EXISTS ({_ITEM} {self._contains(needle, fold=folded)}))"
            case Between(clock, start, end):
                return self._between(clock, start, end)
            case Among(ids):
                return self._given(json.dumps(ids), "id IN (SELECT value FROM json_each(?))")

    def _joined(self, nodes: Iterable[Node], operator: str, *, empty: str) -> str:
        return f"({operator.join(self.node(one) for one in nodes) or empty})"

    def _member(self, key: str) -> str:
        return self._given(key, "SELECT 1 FROM json_each(payload) AS m WHERE m.key = ?")

    def _among(self, alias: str, values: Iterable[Scalar]) -> str:
        """The wanted values that equal `alias`'s: of one kind, where whole and other numbers are one."""
        equal = f"{_kind('v')} = {_kind(alias)} AND v.atom = {alias}.atom"
        return self._given(json.dumps(values), "SELECT 1 FROM json_each(?) AS v WHERE ") + equal

    def _contains(self, needle: str, *, fold: bool) -> str:
        text = "fold_text(x.atom)" if fold else "x.atom"
        return self._given(needle, f"x.type = 'text' AND instr({text}, ?) > 0")

    def _between(self, clock: Clock, start: str | None, end: str | None) -> str:
        time = _CLOCKS[clock]
        bounds = [self._given(start, f"{time} >= ?")] if start is not None else []
        bounds += [self._given(end, f"{time} < ?")] if end is not None else []
        return f"coalesce({' AND '.join(bounds) or f'{time} IS NOT NULL'}, 0)"

    def _given(self, value: str, sql: str) -> str:
        """The text, and the value of the one `?` in it."""
        self.values.append(value)
        return sql


def _kind(alias: str) -> str:
    return f"CASE {alias}.type WHEN 'integer' THEN 'real' ELSE {alias}.type END"


_LIST = "m.type = 'array'"
# The elements of a list; a text is a list of itself, so that `Contains` reads both alike.
_ITEM = (
    "SELECT 1 FROM json_each("
    "CASE m.type WHEN 'array' THEN m.value WHEN 'text' THEN json_array(m.atom) ELSE '[]' END) AS x WHERE"
)
# The derived columns hold '' and NULL for what cannot be read as a time.
_CREATED = "nullif(created_at, '')"
_CLOCKS: dict[Clock, str] = {
    "created_at": _CREATED,
    "updated_at": f"coalesce(nullif(utc_stamp(json_extract(payload, '$.updated_at')), ''), {_CREATED})",
    "expiration_date": "expires_on",
}
