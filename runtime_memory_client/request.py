"""One request: what is sent, what is read, and which error a refusal becomes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from runtime_memory_client.checks import check_token, is_expired
from runtime_memory_client.errors import NetworkError, RunResponseError, TokenExpiredError

Query = Mapping[str, str | int | bool | None]

_PATIENCE = aiohttp.ClientTimeout(total=300, sock_connect=10)


async def send(
    method: str,
    url: str,
    token: str,
    *,
    query: Query | None = None,
    body: object = None,
    session: aiohttp.ClientSession | None = None,
) -> dict[str, Any]:
    """The JSON object that is answered. Raises NetworkError, RunResponseError, TokenExpiredError, ValueError."""
    return _object(await send_for_bytes(method, url, token, query=query, body=body, session=session))


async def send_for_bytes(
    method: str,
    url: str,
    token: str,
    *,
    query: Query | None = None,
    body: object = None,
    session: aiohttp.ClientSession | None = None,
) -> bytes:
    """The body that is answered. Raises as `send` does."""
    whole = check_token(token)
    headers = {"Authorization": f"Bearer {whole}", "Accept": "application/json", "Content-Type": "application/json"}
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    try:
        async with (
            _session(session) as open_session,
            open_session.request(
                method, url, headers=headers, params=_said(query), data=data, allow_redirects=False
            ) as response,
        ):
            content, status = await response.read(), response.status
    except (aiohttp.ClientError, TimeoutError) as error:
        raise NetworkError("The service was not reached.") from error
    if 200 <= status < 300:
        return content
    expired = status == 401 and is_expired(whole)
    raise (TokenExpiredError if expired else RunResponseError)(status, _object(content))


@asynccontextmanager
async def _session(given: aiohttp.ClientSession | None) -> AsyncIterator[aiohttp.ClientSession]:
    if given is not None:
        yield given
        return
    async with aiohttp.ClientSession(timeout=_PATIENCE) as own:
        yield own


def new_session() -> aiohttp.ClientSession:
    """A session for many calls."""
    return aiohttp.ClientSession(timeout=_PATIENCE)


def _said(query: Query | None) -> dict[str, str]:
    said = {name: value for name, value in (query or {}).items() if value is not None and value != ""}
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in said.items()}


def _object(content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
