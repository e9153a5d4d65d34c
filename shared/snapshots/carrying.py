"""Carries snapshots between a running service and files, piece by piece, as a client of the service's own routes."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import aiohttp

_PIECE = 256 * 1024
_PATIENCE = aiohttp.ClientTimeout(total=3600, sock_connect=10, sock_read=600)


class NotCarried(Exception):
    """Why a snapshot did not get where it was to go, in a sentence."""


class Service:
    """A running service, reached with somebody's credential."""

    def __init__(self, url: str, credential: Mapping[str, str]) -> None:
        self._url = url.rstrip("/") + "/api/memory"
        self._credential = dict(credential)

    async def export(self, path: Path, state_id: str | None) -> str:
        """Write a snapshot to a file that only its owner reads, saving one now when none is named; its id.

        The file stands whole under its name, or not at all. Raises NotCarried.
        """
        async with self._session() as session:
            wanted = state_id or await self._save(session)
            part = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
            try:
                async with session.get(f"{self._url}/state/{wanted}", params={"export": "true"}) as response:
                    await _check(response)
                    with await asyncio.to_thread(_private, part) as file:
                        async for piece in response.content.iter_chunked(_PIECE):
                            await asyncio.to_thread(file.write, piece)
                await asyncio.to_thread(os.replace, part, path)
            except (OSError, aiohttp.ClientError, TimeoutError) as error:
                raise NotCarried(_why(error)) from error
            finally:
                await asyncio.to_thread(part.unlink, missing_ok=True)
        return wanted

    async def take_in(self, path: Path, *, restore: bool) -> dict[str, Any]:
        """Send a file; what the service says of the snapshot, and of restoring it if asked. Raises NotCarried."""
        async with self._session() as session:
            try:
                headers = {"Content-Type": "application/json"}
                async with session.post(f"{self._url}/states", data=_pieces(path), headers=headers) as response:
                    said = await _check(response)
                if restore:
                    async with session.post(f"{self._url}/state/{said['id']}") as response:
                        said |= {"restored": (await _check(response))["restored"]}
            except (OSError, aiohttp.ClientError, TimeoutError) as error:
                raise NotCarried(_why(error)) from error
        return said

    async def _save(self, session: aiohttp.ClientSession) -> str:
        try:
            async with session.post(f"{self._url}/state") as response:
                return str((await _check(response))["id"])
        except (aiohttp.ClientError, TimeoutError) as error:
            raise NotCarried(_why(error)) from error

    def _session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(headers=self._credential, timeout=_PATIENCE)


async def _check(response: aiohttp.ClientResponse) -> dict[str, Any]:
    """The answer's members; empty for a document, which is yet to be read. Raises NotCarried."""
    if response.status == 200 and "Content-Disposition" in response.headers:
        return {}
    said = await response.json(content_type=None)
    if response.status != 200:
        sentence = said.get("detail") if isinstance(said, dict) else None
        raise NotCarried(sentence or f"The service answered {response.status}.")
    return dict(said)


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    with await asyncio.to_thread(path.open, "rb") as file:
        while piece := await asyncio.to_thread(file.read, _PIECE):
            yield piece


def _private(path: Path) -> Any:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and not isinstance(error, aiohttp.ClientError):
        return f"The file cannot be used: {error.strerror or 'unknown'}."
    return "The service cannot be reached, or went away in the middle."
