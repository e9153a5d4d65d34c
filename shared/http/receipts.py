"""What was forgotten of the person calling: when, of which application, how many; never what.

A key that is bound to one application is told of that one only.
"""

from __future__ import annotations

from aiohttp import web

from shared.http import body
from shared.http.answers import answer
from shared.http.keys import CALLER, STORE
from shared.tokens import reach_of
from shared.views import shown_receipt


async def list_receipts(request: web.Request) -> web.Response:
    """Receipts, newest first."""
    body.refuse_foreign_paging(request)
    found = await request.app[STORE].receipts(
        reach_of(request[CALLER]),
        limit=body.integer(request, "limit", default=100, least=1, most=1000) or 100,
        offset=body.integer(request, "offset", default=0) or 0,
    )
    return answer({"success": True, "count": len(found), "receipts": [shown_receipt(one) for one in found]})


async def list_applications(request: web.Request) -> web.Response:
    """The applications that remember something of the caller: how much, since when, until when."""
    found = await request.app[STORE].applications(reach_of(request[CALLER]))
    applications = [
        {"app": one.application, "total": one.total, "first_at": one.first_at, "last_at": one.last_at} for one in found
    ]
    return answer({"success": True, "count": len(applications), "applications": applications})
