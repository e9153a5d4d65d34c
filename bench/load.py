"""Asks a server the same over and over on kept connections: a client that costs little beside the server."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

WARM = 0.3
"""Seconds that are not counted."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Seconds of each answer, and answers a second."""

    took: list[float]
    throughput: float


class _Connection(asyncio.Protocol):
    """Sends one request, reads the whole answer, and sends it again until it is told to stop."""

    def __init__(self, request: bytes, stop_at: float) -> None:
        self.took: list[float] = []
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._request = request
        self._stop_at = stop_at
        self._received = b""
        self._sent = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, _, rest = self._received.partition(b"\r\n\r\n")
        if rest == b"" or len(rest) < _length(head):
            return
        now = time.perf_counter()
        if not head.startswith(b"HTTP/1.1 200"):
            self.ended.set_exception(RuntimeError(self._received[:300].decode()))
            return
        self.took.append(now - self._sent)
        self._received = b""
        if now < self._stop_at:
            self._send()
        else:
            self._transport.close()
            self.ended.set_result(None)

    def _send(self) -> None:
        self._sent = time.perf_counter()
        self._transport.write(self._request)


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    raise RuntimeError("an answer without a length")


async def ask(url: str, headers: dict[str, str], *, at_once: int, seconds: float) -> Asked:
    """GET a URL on some connections at once. Raises RuntimeError for any answer but 200."""
    parts = urlsplit(url)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    lines = [f"GET {path} HTTP/1.1", f"Host: {parts.netloc}", *(f"{name}: {value}" for name, value in headers.items())]
    request = "\r\n".join([*lines, "", ""]).encode()
    host, port = parts.hostname or "127.0.0.1", parts.port or 80
    await _several(host, port, request, at_once, WARM)
    began = time.perf_counter()
    took = await _several(host, port, request, at_once, seconds)
    return Asked(took, len(took) / (time.perf_counter() - began))


async def _several(host: str, port: int, request: bytes, at_once: int, seconds: float) -> list[float]:
    loop, stop_at = asyncio.get_running_loop(), time.perf_counter() + seconds
    made = [await loop.create_connection(lambda: _Connection(request, stop_at), host, port) for _ in range(at_once)]
    await asyncio.gather(*(connection.ended for _, connection in made))
    return [taken for _, connection in made for taken in connection.took]
