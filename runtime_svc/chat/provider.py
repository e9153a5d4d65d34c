"""The configured LLM provider: an OpenAI-compatible server."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import ClassVar

import aiohttp

from shared.errors import ServiceError

_MOST_AT_ONCE = 1000
"""Connections to the provider; who comes later waits for one."""
_CONNECT = 10.0
_AHEAD = 16 * 1024
"""Bytes of an answer that are held for a client that reads slowly, before the provider has to wait."""
LARGEST_ANSWER = 32 * 1024 * 1024
"""Bytes of an answer that is not a stream."""

_PASSED_BACK = ("content-type", "retry-after", "retry-after-ms", "x-should-retry")
_PASSED_BACK_FAMILIES = ("openai-", "x-ratelimit-")


class NotConfigured(ServiceError):
    """There is no provider."""

    status: ClassVar[int] = 503
    code: ClassVar[str] = "not_configured"


class ProviderFailed(ServiceError):
    """The provider is not reached, or broke off."""

    status: ClassVar[int] = 502
    code: ClassVar[str] = "provider_failed"


class Provider:
    """Asks with the operator's key, and with nothing of the caller's."""

    def __init__(self, base_url: str | None, key: str | None, *, seconds: float) -> None:
        """`seconds` is how long the provider may say nothing; without an address there is no provider."""
        self._base = None if base_url is None else base_url.rstrip("/")
        self._key = key
        self._timeout = aiohttp.ClientTimeout(total=None, connect=None, sock_connect=_CONNECT, sock_read=seconds)
        self._session: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        """Make the client session; nothing is asked yet."""
        authorization = {} if self._key is None else {"Authorization": f"Bearer {self._key}"}
        self._session = aiohttp.ClientSession(
            timeout=self._timeout,
            connector=aiohttp.TCPConnector(limit=_MOST_AT_ONCE),
            cookie_jar=aiohttp.DummyCookieJar(),
            read_bufsize=_AHEAD,
            # Compressed, a stream would come in lumps.
            headers={"Accept-Encoding": "identity", **authorization},
        )

    async def close(self) -> None:
        """End the session."""
        if self._session is not None:
            await self._session.close()

    @asynccontextmanager
    async def ask(
        self, method: str, path: str, body: io.BytesIO | None, accept: str
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer as it begins; left early, the connection is closed. Raises ProviderFailed, NotConfigured."""
        if self._session is None or self._base is None:
            raise NotConfigured("No LLM provider is configured: MEMORY_CHAT_BASE_URL says where it is.")
        headers = {"Accept": accept, **({} if body is None else {"Content-Type": "application/json"})}
        try:
            answered = await self._session.request(
                method,
                f"{self._base}{path}",
                data=body,
                headers=headers,
                allow_redirects=False,
            )
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ProviderFailed("The LLM provider is not reached.") from error
        try:
            yield answered
        finally:
            answered.close()


def passed_back(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of a provider's answer that a client has a use for."""
    return {
        name: value
        for name, value in headers.items()
        if name.lower() in _PASSED_BACK or name.lower().startswith(_PASSED_BACK_FAMILIES)
    }


async def pieces(answered: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """The body as it comes, no faster than it is taken. Raises ProviderFailed."""
    try:
        async for some in answered.content.iter_any():
            yield some
    except (aiohttp.ClientError, TimeoutError) as error:
        raise ProviderFailed("The LLM provider broke off its answer.") from error


async def whole(answered: aiohttp.ClientResponse) -> bytes:
    """The body of an answer that is not a stream. Raises ProviderFailed."""
    body = bytearray()
    async for some in pieces(answered):
        body += some
        if len(body) > LARGEST_ANSWER:
            raise ProviderFailed("The LLM provider's answer is too large.")
    return bytes(body)
