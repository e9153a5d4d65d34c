"""Keeps words out of the pages that SQLite copies: so that forgetting leaves no trace in free space.

SQLite's `secure_delete` blanks a deleted row, but when a b-tree page is rebalanced the rows that move leave copies in
the unused middle of the page, and forgetting the row later does not reach those. Overflow pages are never copied, and
are blanked whole when they are freed. By the file format (section "Cell Payload Overflow Pages") a row of P bytes in a
table keeps K bytes in its leaf and the rest in overflow pages:

    K = M + (P - M) mod (U - 4)    when that is at most U - 35,   with M = (U - 12) * 32 / 255 - 23

So every table that holds words begins with what is no secret, goes on with a blank up to M bytes, then holds what is,
and ends with a fill that makes K no more than what is no secret. Such a row is always written whole.
"""

from __future__ import annotations

from collections.abc import Sequence

PAGE = 4096
"""The page size of the database; nothing at the end of a page is reserved, so U is the same."""

_LOCAL = (PAGE - 12) * 32 // 255 - 23
_ROOM = PAGE - 4
_SLACK = 4
"""K aims at M + 4: the header is longer than 8 bytes, so a byte more or less is still no secret."""

Value = str | bytes | int | None


def padding(plain: Sequence[Value], secret: Sequence[Value]) -> tuple[bytes, bytes]:
    """The blank between the plain and the secret columns of a row, and the fill after them.

    The row is `key INTEGER PRIMARY KEY, *plain, blank, *secret, fill`.
    """
    blank = bytes(max(0, _LOCAL - sum(map(_size, plain))))
    values = [*plain, blank, *secret]
    header = 1 + 2 + 1 + sum(_varint(_serial(value)) for value in values)
    bare = header + (header > 127) + sum(map(_size, values)) + 1
    fill = (_LOCAL + _SLACK - bare) % _ROOM
    return blank, bytes(fill)


def _size(value: Value) -> int:
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, bytes):
        return len(value)
    if value is None or value in (0, 1):
        return 0
    return next(size for size in (1, 2, 3, 4, 6, 8) if -(1 << 8 * size - 1) <= value < 1 << 8 * size - 1)


def _serial(value: Value) -> int:
    return 2 * _size(value) + 12 if isinstance(value, str | bytes) else 1


def _varint(number: int) -> int:
    return max(1, -(-number.bit_length() // 7))
