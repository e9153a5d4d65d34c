"""The condition of a read: the scope first, then what is not expired, then the caller's filter inside."""

from __future__ import annotations

from shared.filters import Filter
from shared.scope import Reach
from shared.stores.local import filters
from shared.stores.local.scopes import Values, within
from shared.times import today


def condition(reach: Reach, where: Filter | None, *, show_expired: bool) -> tuple[str, Values]:
    """SQL and its values. The scope stands outside the filter's tree, so that no filter widens it."""
    sql, values = within(reach)
    if not show_expired:
        values.append(today())
        sql += " AND (expires_on IS NULL OR expires_on >= ?)"
    if where is not None:
        inside, more = filters.condition(where)
        return f"{sql} AND {inside}", [*values, *more]
    return sql, values
