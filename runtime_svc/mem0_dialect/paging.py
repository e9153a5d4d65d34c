"""The pages of this dialect: counted from one, in the envelope that clients walk by `next` or by number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aiohttp import web
from yarl import URL

from shared.http import body

FURTHEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Paging:
    """Which page is asked for, at which address."""

    url: URL
    number: int
    size: int
    counted: bool
    """Whether a page was asked for by its number."""

    @property
    def offset(self) -> int:
        """How many stand before it."""
        return (self.number - 1) * self.size

    def envelope(self, total: int, results: list[dict[str, Any]]) -> dict[str, Any]:
        """The page, with the addresses of those beside it."""
        more = self.number * self.size < total
        return {
            "count": total,
            "next": self._address(self.number + 1) if more else None,
            "previous": self._address(self.number - 1) if self.number > 1 else None,
            "results": results,
        }

    def _address(self, number: int) -> str:
        return str(self.url.update_query(page=str(number), page_size=str(self.size)))


def paging_of(request: web.Request, *, size: int, most: int) -> Paging:
    """The page that the query asks for. Raises BadValue."""
    number = body.integer(request, "page", default=None, least=1, most=FURTHEST)
    asked = body.integer(request, "page_size", default=size, least=1, most=most) or size
    return Paging(request.url, number or 1, asked, counted=number is not None)
