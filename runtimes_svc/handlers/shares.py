"""What the person calling allows applications to read of each other, under `/api/runtimes/v1/memory-shares`."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from runtimes_svc import sharing
from runtimes_svc.handlers.envelope import envelope
from runtimes_svc.keys import SHARES
from shared.http import body
from shared.http.answers import answer
from shared.http.keys import CALLER
from shared.shares import Share


class Allow(body.Body):
    """Which application may read which."""

    source: str
    reader: str


def shown_share(share: Share) -> dict[str, Any]:
    """An allowance as the platform's clients read it."""
    return {"source": share.source, "reader": share.reader, "allowed_at": share.allowed_at.isoformat()}


async def list_shares(request: web.Request) -> web.Response:
    """The caller's allowances: of a source, of a reader, or all."""
    found = await sharing.list_shares(
        request.app[SHARES],
        request[CALLER],
        source=body.text(request, "source"),
        reader=body.text(request, "reader"),
    )
    return answer(envelope("What you allow.", count=len(found), shares=[shown_share(share) for share in found]))


async def allow(request: web.Request) -> web.Response:
    """Let `reader` use what `source` remembers of the caller."""
    said = await body.read(request, Allow)
    share = await sharing.allow(request.app[SHARES], request[CALLER], source=said.source, reader=said.reader)
    return answer(envelope("Allowed.", share=shown_share(share)))


async def stop(request: web.Request) -> web.Response:
    """Stop sharing."""
    await sharing.stop(
        request.app[SHARES],
        request[CALLER],
        source=body.text(request, "source"),
        reader=body.text(request, "reader"),
    )
    return answer(envelope("No longer shared.", stopped=1))
