"""The condition of a read: the scope first, then what is not expired, then the caller's filter inside."""

from __future__ import annotations

from shared.filters import Filter
from shared.scope import Reach
from shared.stores.pg import filters
from shared.stores.pg.scopes import within
from shared.times import today


def condition(reach: Reach, where: Filter | None, *, show_expired: bool) -> tuple[str, list[object]]:
    """SQL and its values. The scope stands outside the filter's tree, so that no filter widens it."""
    sql, values = within(reach)
    if not show_expired:
        values.append(today())
        sql += f" AND (expires_on IS NULL OR expires_on >= ${len(values)})"
    if where is not None:
        sql += f" AND {filters.condition(where, values)}"
    return sql, values
