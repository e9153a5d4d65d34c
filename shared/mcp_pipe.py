"""Carries MCP messages between a desktop client's pipes and a running service: a line in, a line out."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Mapping
from typing import Any, BinaryIO
from urllib.parse import quote, urlsplit

import aiohttp

from shared.errors import BadValue
from shared.scope import application_of

LONGEST = 1024 * 1024
"""Bytes of a line; the service takes no larger message."""

_AT_ONCE = 16
_TIMEOUT = aiohttp.ClientTimeout(total=120, connect=10)
_META_VERSION = "io.modelcontextprotocol/protocolVersion"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that the protocol's `Mcp-Name` header repeats, by method."""
_PLAIN = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_SERVICE_FAILED = -32603
_UNREADABLE = -32700


def endpoint(url: str, app: str) -> str:
    """Where the service at an address speaks MCP for an application. Raises BadValue."""
    if urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).hostname:
        raise BadValue("The service's address starts with http:// or https://.")
    application_of(app)
    return f"{url.rstrip('/')}/mcp/{quote(app, safe='')}"


class Pipe:
    """One client's pipes, and the service that answers."""

    def __init__(self, url: str, credential: Mapping[str, str], *, heard: BinaryIO, told: BinaryIO) -> None:
        self._url = url
        self._credential = credential
        self._heard = heard
        self._told = told
        self._version: str | None = None
        self._telling = asyncio.Lock()
        self._room = asyncio.Semaphore(_AT_ONCE)

    async def carry(self) -> None:
        """Until the client closes its end; what it asked before is answered first."""
        async with (
            aiohttp.ClientSession(timeout=_TIMEOUT, headers=dict(self._credential)) as session,
            asyncio.TaskGroup() as running,
        ):
            while line := await asyncio.to_thread(self._heard.readline, LONGEST + 1):
                if len(line) > LONGEST:
                    await self._skip(line)
                elif line.strip():
                    await self._room.acquire()
                    running.create_task(self._answer(session, line))

    async def _skip(self, line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            line = await asyncio.to_thread(self._heard.readline, LONGEST)
        await self._tell(_error(None, _UNREADABLE, "A message is at most 1 MiB."))

    async def _answer(self, session: aiohttp.ClientSession, line: bytes) -> None:
        try:
            message = _parsed(line)
            if message is None:
                await self._tell(_error(None, _UNREADABLE, "A message is a JSON object on one line."))
            elif (answered := await self._ask(session, message, line)) is not None:
                await self._tell(answered)
        finally:
            self._room.release()

    async def _ask(self, session: aiohttp.ClientSession, message: dict[str, Any], line: bytes) -> bytes | None:
        """The service's answer to a message; None to a notification."""
        try:
            # No redirects: the credential goes to the address that was named, and to no other.
            async with session.post(
                self._url, data=line, headers=self._headers(message), allow_redirects=False
            ) as response:
                status, body = response.status, await response.read()
        except (aiohttp.ClientError, TimeoutError):
            status, body = 0, b""
        if "id" not in message:
            return None
        said = _parsed(body)
        if said is None or said.get("jsonrpc") != "2.0":
            return _error(message["id"], _SERVICE_FAILED, _why(status, said))
        if message.get("method") == "initialize":
            self._version = _text(said.get("result"), "protocolVersion")
        # A message that was refused before it was read is answered without its id: the client knows it by that alone.
        return _line({**said, "id": message["id"]})

    def _headers(self, message: dict[str, Any]) -> dict[str, str]:
        params = message.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        version = _text(meta, _META_VERSION)
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if version is None:
            return headers if self._version is None else {**headers, "MCP-Protocol-Version": self._version}
        method = str(message.get("method"))
        headers |= {"MCP-Protocol-Version": version, "Mcp-Method": _header(method)}
        if (name := _text(params, _NAMED.get(method, ""))) is not None:
            headers["Mcp-Name"] = _header(name)
        return headers

    async def _tell(self, line: bytes) -> None:
        async with self._telling:
            await asyncio.to_thread(self._write, line)

    def _write(self, line: bytes) -> None:
        self._told.write(line + b"\n")
        self._told.flush()


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _text(value: object, key: str) -> str | None:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def _header(value: str) -> str:
    if _PLAIN.fullmatch(value) and not value.startswith("=?"):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'replace')).decode()}?="


def _why(status: int, said: dict[str, Any] | None) -> str:
    if status == 0:
        return "The memory service is not reached: is it running at this address?"
    return _text(said, "detail") or f"The memory service answered {status}."


def _error(message_id: object, code: int, sentence: str) -> bytes:
    return _line({"jsonrpc": "2.0", "id": message_id, "error": {"code": code, "message": sentence}})


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()
