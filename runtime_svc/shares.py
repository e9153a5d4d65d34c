"""Reads a person's allowances from the platform, once per turn, with that person's own credential."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping

import aiohttp
import cachetools
import structlog

from runtime_svc.turns import SharesUnreadError, Turn
from shared.errors import BadValue
from shared.scope import application_key
from shared.tokens import person_of

PATH = "/api/runtimes/v1/memory-shares"

NO_ADDRESS = (
    "This runtime does not know where the runtimes service is (DATALAYER_RUNTIMES_URL), so what you allowed other"
    " applications to share with this one could not be read."
)
WRONG_SHAPE = "The runtimes service answered allowances of the wrong shape."
_UNREAD = "What you allowed other applications to share with this one could not be read: the runtimes service"

_TIMEOUT = aiohttp.ClientTimeout(total=10)
_LARGEST = 1_048_576
_HELD_TURNS = 10_000
_TURN_SECONDS = 60
"""How long one turn's allowances are held at most: a stopped share is used no longer than this, by a turn under way."""

log = structlog.get_logger()

_Key = tuple[str, bytes, str, str]


class PlatformShares:
    """The platform's allowances over HTTP. Nothing is held of a turn without an id, nor of a turn that failed."""

    def __init__(self, url: str | None) -> None:
        self._url = None if url is None else url.rstrip("/") + PATH
        self._session: aiohttp.ClientSession | None = None
        self._turns: cachetools.TTLCache[_Key, asyncio.Task[tuple[str, ...]]] = cachetools.TTLCache(
            _HELD_TURNS, _TURN_SECONDS
        )

    async def open(self) -> None:
        """Make the client session; nothing is asked yet."""
        # No cookies: what the platform sets for one person must not ride on the next one's request.
        self._session = aiohttp.ClientSession(timeout=_TIMEOUT, cookie_jar=aiohttp.DummyCookieJar())

    async def close(self) -> None:
        """End what is being read and the session."""
        for reading in list(self._turns.values()):
            reading.cancel()
        self._turns.clear()
        if self._session is not None:
            await self._session.close()

    async def sources(self, turn: Turn, reader: str) -> tuple[str, ...]:
        """The keys of the applications that `reader` may read in this turn. Raises SharesUnreadError."""
        if not turn.credential:
            return ()
        if turn.id is None:
            return await self._read(turn.credential, reader)
        key = (person_of(turn.caller), _digest(turn.credential), reader, turn.id)
        reading = self._turns.get(key)
        if reading is None:
            reading = asyncio.create_task(self._read(turn.credential, reader))
            self._turns[key] = reading
            reading.add_done_callback(lambda done: self._drop_failed(key, done))
        # Shielded: a request that leaves must not end the reading that others of its turn wait for.
        return await asyncio.shield(reading)

    def forget(self, turn: Turn, reader: str) -> int:
        """Drop what is held of the person's turns with `reader`; how many were held."""
        person = person_of(turn.caller)
        held = [key for key in self._turns if key[0] == person and key[2] == reader]
        for key in held:
            self._turns.pop(key, None)
        return len(held)

    def _drop_failed(self, key: _Key, done: asyncio.Task[tuple[str, ...]]) -> None:
        if (done.cancelled() or done.exception() is not None) and self._turns.get(key) is done:
            self._turns.pop(key, None)

    async def _read(self, credential: Mapping[str, str], reader: str) -> tuple[str, ...]:
        try:
            return _sources(await self._ask(credential, reader), reader)
        except SharesUnreadError as unread:
            log.warning("shares.unread", reader=reader, why=unread.sentence)
            raise

    async def _ask(self, credential: Mapping[str, str], reader: str) -> bytes:
        """The body of the platform's answer. Raises SharesUnreadError."""
        if self._url is None or self._session is None:
            raise SharesUnreadError(NO_ADDRESS)
        try:
            # No redirects: a person's credential goes to the address that was configured and to no other.
            async with self._session.get(
                self._url, params={"reader": reader}, headers=credential, allow_redirects=False
            ) as response:
                if response.status != 200:
                    raise SharesUnreadError(f"{_UNREAD} answered {response.status}.")
                return await _bounded(response)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise SharesUnreadError(f"{_UNREAD} was not reached ({type(error).__name__}).") from None


async def _bounded(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_chunked(65_536):
        body += chunk
        if len(body) > _LARGEST:
            raise SharesUnreadError(WRONG_SHAPE)
    return bytes(body)


def _sources(body: bytes, reader: str) -> tuple[str, ...]:
    """The sources of the rows for this reader; another reader's are dropped. Raises SharesUnreadError."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise SharesUnreadError(WRONG_SHAPE) from error
    shares = document.get("shares") if isinstance(document, dict) else None
    if not isinstance(shares, list) or not all(isinstance(share, dict) for share in shares):
        raise SharesUnreadError(WRONG_SHAPE)
    try:
        found = [application_key(share.get("source")) for share in shares if share.get("reader") == reader]
    except BadValue as error:
        raise SharesUnreadError(WRONG_SHAPE) from error
    return tuple(dict.fromkeys(source for source in found if source != reader))


def _digest(credential: Mapping[str, str]) -> bytes:
    """What tells two credentials apart without holding them."""
    return hashlib.sha256(repr(sorted(credential.items())).encode(errors="surrogateescape")).digest()
