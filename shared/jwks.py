"""The signing keys that an issuer publishes (a JWKS): fetched once for all who wait, kept, refreshed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import aiohttp
import jwt
import structlog

from shared.errors import Unavailable

ALGORITHMS = frozenset({"RS256", "ES256", "EdDSA"})
"""What a published key may sign with. A shared secret (`oct`) is never taken from a key set."""

_FRESH = 300.0
"""Seconds after which a request starts a refresh behind its back; after ten times that it waits for the refresh."""
_PATIENCE = 10.0
"""Seconds between two fetches that an unknown key id may cause."""
_PAUSE = 1.0
"""Seconds after a failed fetch in which nobody tries again."""
_TIMEOUT = aiohttp.ClientTimeout(total=5)
_LARGEST = 262_144
_MOST_KEYS = 100

_log = structlog.get_logger(__name__)


class KeySet:
    """The keys at one URL. Those that were read last keep serving while the issuer cannot be reached."""

    def __init__(self, url: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._clock = clock
        self._keys: Mapping[tuple[str, str | None], jwt.PyJWK] = {}
        self._read_at: float | None = None
        self._tried_at: float | None = None
        self._failed_at: float | None = None
        self._refreshing: asyncio.Task[None] | None = None

    async def key(self, algorithm: str, kid: str | None) -> jwt.PyJWK | None:
        """The key that a token's header names; without a `kid`, the only key of its algorithm. None when unknown.

        Raises Unavailable when no keys were ever read.
        """
        await self._keep_fresh()
        found = self._find(algorithm, kid)
        if found is None and self._may_ask_again():
            await self._refresh()
            found = self._find(algorithm, kid)
        return found

    async def close(self) -> None:
        """End a refresh that is under way."""
        if self._refreshing is not None:
            self._refreshing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._refreshing

    async def _keep_fresh(self) -> None:
        now = self._clock()
        if self._read_at is None:
            if self._failed_at is None or now - self._failed_at >= _PAUSE:
                await self._refresh()
            if self._read_at is None:
                raise Unavailable("Who is calling cannot be checked now: the keys of its issuer were not reached.")
        elif now - self._read_at > _FRESH and (self._failed_at is None or now - self._failed_at >= _PAUSE):
            # A service that slept must not let in what was signed with keys withdrawn long ago.
            if now - self._read_at > 10 * _FRESH:
                await self._refresh()
            else:
                self._start()

    def _find(self, algorithm: str, kid: str | None) -> jwt.PyJWK | None:
        if kid is not None:
            return self._keys.get((algorithm, kid))
        candidates = [key for (of, _), key in self._keys.items() if of == algorithm]
        return candidates[0] if len(candidates) == 1 else None

    def _may_ask_again(self) -> bool:
        under_way = self._refreshing is not None and not self._refreshing.done()
        return under_way or self._tried_at is None or self._clock() - self._tried_at >= _PATIENCE

    def _start(self) -> asyncio.Task[None]:
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._read())
        return self._refreshing

    async def _refresh(self) -> None:
        # Shielded: a caller who leaves must not end the fetch that others wait for.
        await asyncio.shield(self._start())

    async def _read(self) -> None:
        self._tried_at = self._clock()
        try:
            self._keys = usable_keys(await self._fetch())
        except (aiohttp.ClientError, TimeoutError, ValueError, RecursionError) as error:
            self._failed_at = self._clock()
            _log.warning("jwks.unread", error=type(error).__name__, kept=len(self._keys))
        else:
            self._read_at, self._failed_at = self._clock(), None

    async def _fetch(self) -> bytes:
        # No redirects: the keys come from the address that was configured, or not at all. A session for one request,
        # for requests are minutes apart.
        async with (
            aiohttp.ClientSession(timeout=_TIMEOUT) as session,
            session.get(self._url, allow_redirects=False) as response,
        ):
            if response.status != 200:
                raise ValueError(f"answered {response.status}")
            body = bytearray()
            async for chunk in response.content.iter_chunked(16_384):
                body += chunk
                if len(body) > _LARGEST:
                    raise ValueError("answered too much")
            return bytes(body)


def usable_keys(document: bytes) -> dict[tuple[str, str | None], jwt.PyJWK]:
    """The signature keys of a JWKS document by (algorithm, kid). Raises ValueError when there is none."""
    listed = json.loads(document)
    members = listed.get("keys") if isinstance(listed, dict) else None
    keys: dict[tuple[str, str | None], jwt.PyJWK] = {}
    for member in members[:_MOST_KEYS] if isinstance(members, list) else ():
        key = _key(member)
        if key is not None:
            keys.setdefault((key.algorithm_name, key.key_id), key)
    if not keys:
        raise ValueError("no usable keys")
    return keys


def _key(member: Any) -> jwt.PyJWK | None:
    """One published key; None when it is not for signatures that we accept."""
    if not isinstance(member, dict) or member.get("use") not in (None, "sig"):
        return None
    if not isinstance(member.get("kid"), str | None) or member.get("alg") not in (None, *ALGORITHMS):
        return None
    public = {name: value for name, value in member.items() if name not in _PRIVATE}
    try:
        key = jwt.PyJWK(public)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError):
        return None
    fits = key.algorithm_name in ALGORITHMS and (key.algorithm_name, key.key_type, public.get("crv")) in _FITTING
    return key if fits else None


_PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
"""Members that only a private key has: an issuer that publishes one by mistake still only verifies here."""
_FITTING = frozenset({("RS256", "RSA", None), ("ES256", "EC", "P-256"), ("EdDSA", "OKP", "Ed25519")})
