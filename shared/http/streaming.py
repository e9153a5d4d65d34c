"""JSON answers that may be long: sent as they are made, so that no more than a piece is held."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from aiohttp import web

_AT_ONCE = 256 * 1024
"""Bytes up to which an answer is sent whole: a fault until then is still answered as one."""


async def stream(request: web.Request, pieces: AsyncIterator[bytes], **headers: str) -> web.StreamResponse:
    """Answer with these pieces. A fault in the middle of a long one breaks the connection: never half an answer."""
    sent = {"Cache-Control": "no-store", **headers}
    held = bytearray()
    async for piece in pieces:
        held += piece
        if len(held) > _AT_ONCE:
            break
    else:
        return web.Response(body=bytes(held), content_type="application/json", charset="utf-8", headers=sent)
    response = web.StreamResponse(headers={"Content-Type": "application/json; charset=utf-8", **sent})
    await response.prepare(request)
    await response.write(bytes(held))
    async for piece in pieces:
        await response.write(piece)
    await response.write_eof()
    return response


async def each(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The same pieces, to be streamed."""
    for piece in pieces:
        yield piece
