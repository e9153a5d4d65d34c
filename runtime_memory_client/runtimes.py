"""The platform's memory routes, as functions: the token first, the address of the service last."""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import quote

import aiohttp

from runtime_memory_client.checks import check_token, confirmed, required
from runtime_memory_client.request import Query, send
from runtime_memory_client.types import MemoryList, RuntimeMemory, Share

DEFAULT_BASE_URL = "https://r1.datalayer.run"
"""Where the platform service is, unless a call says otherwise."""

ROOT = "/api/runtimes/v1"

Session = aiohttp.ClientSession | None


async def list_runtime_memories(
    token: str,
    *,
    user_id: str | None = None,
    agent_id: str | None = None,
    limit: int | None = None,
    offset: int | None = None,
    cursor: str | None = None,
    q: str | None = None,
    show_expired: bool = False,
    base_url: str = DEFAULT_BASE_URL,
    session: Session = None,
) -> MemoryList:
    """What applications remember of the caller, newest first; with `q`, those with these words, best first."""
    asked = list_query(
        user_id=user_id,
        agent_id=agent_id,
        limit=limit,
        offset=offset,
        cursor=cursor,
        q=q,
        show_expired=show_expired,
    )
    said = await send("GET", f"{base_url}{ROOT}/memories", token, query=asked, session=session)
    return memory_list(said, limit=limit, offset=offset)


async def get_runtime_memory(
    token: str, memory_id: str, *, base_url: str = DEFAULT_BASE_URL, session: Session = None
) -> RuntimeMemory:
    """One of the caller's memories."""
    check_token(token)
    said = await send("GET", memory_url(base_url, memory_id), token, session=session)
    return cast("RuntimeMemory", said["memory"])


async def correct_runtime_memory(
    token: str, memory_id: str, memory: str, *, base_url: str = DEFAULT_BASE_URL, session: Session = None
) -> RuntimeMemory:
    """New words for one, in place."""
    check_token(token)
    url = memory_url(base_url, memory_id)
    required(memory, "What it should remember")
    said = await send("PATCH", url, token, body={"memory": memory}, session=session)
    return cast("RuntimeMemory", said["memory"])


async def forget_runtime_memory(
    token: str, memory_id: str, *, base_url: str = DEFAULT_BASE_URL, session: Session = None
) -> int:
    """Forget one; how many were forgotten."""
    check_token(token)
    return forgotten(await send("DELETE", memory_url(base_url, memory_id), token, session=session))


async def forget_runtime_memories(
    token: str, agent_id: str, count: int, *, base_url: str = DEFAULT_BASE_URL, session: Session = None
) -> int:
    """Forget all that an application remembers, no more than was confirmed (409 when it grew)."""
    check_token(token)
    query: Query = {"agent_id": required(agent_id, "Agent id"), "count": confirmed(count)}
    return forgotten(await send("DELETE", f"{base_url}{ROOT}/memories", token, query=query, session=session))


async def list_runtime_memory_shares(
    token: str,
    *,
    source: str | None = None,
    reader: str | None = None,
    base_url: str = DEFAULT_BASE_URL,
    session: Session = None,
) -> list[Share]:
    """What the caller allows applications to read of each other."""
    query: Query = {"source": (source or "").strip(), "reader": (reader or "").strip()}
    said = await send("GET", f"{base_url}{ROOT}/memory-shares", token, query=query, session=session)
    return cast("list[Share]", list_of(said, "shares"))


async def allow_runtime_memory_share(
    token: str, source: str, reader: str, *, base_url: str = DEFAULT_BASE_URL, session: Session = None
) -> Share:
    """Let `reader` use what `source` remembers of the caller."""
    check_token(token)
    said = await send("PUT", f"{base_url}{ROOT}/memory-shares", token, body=pair(source, reader), session=session)
    return cast("Share", said["share"])


async def stop_runtime_memory_share(
    token: str, source: str, reader: str, *, base_url: str = DEFAULT_BASE_URL, session: Session = None
) -> None:
    """Stop sharing."""
    check_token(token)
    await send("DELETE", f"{base_url}{ROOT}/memory-shares", token, query=pair(source, reader), session=session)


def list_query(
    *,
    user_id: str | None,
    agent_id: str | None,
    limit: int | None,
    offset: int | None,
    cursor: str | None,
    q: str | None,
    show_expired: bool,
) -> Query:
    """The query of a list: trimmed, within bounds, and nothing of what is not said."""
    return {
        "user_id": (user_id or "").strip(),
        "agent_id": (agent_id or "").strip(),
        "limit": None if limit is None else max(1, min(1000, limit)),
        "offset": None if offset is None else max(0, offset),
        "cursor": cursor,
        "q": (q or "").strip(),
        "show_expired": True if show_expired else None,
    }


def memory_list(said: dict[str, Any], *, limit: int | None, offset: int | None) -> MemoryList:
    """A list as it is read, whatever members are missing."""
    return {
        "success": bool(said.get("success", True)),
        "message": said.get("message"),
        "count": int(said.get("count") or 0),
        "total": said.get("total"),
        "next": said.get("next"),
        "limit": int(said.get("limit") or limit or 100),
        "offset": int(said.get("offset") or offset or 0),
        "user_id": said.get("user_id"),
        "memories": cast("list[RuntimeMemory]", list_of(said, "memories")),
    }


def list_of(said: dict[str, Any], name: str) -> list[Any]:
    """A member that should be a list."""
    found = said.get(name)
    return found if isinstance(found, list) else []


def forgotten(said: dict[str, Any]) -> int:
    """How many a forgetting answers."""
    return int(said.get("forgotten") or 0)


def pair(source: str, reader: str) -> dict[str, str]:
    """Both applications of an allowance, trimmed. Raises ValueError when one is missing."""
    return {
        "source": required(source, "The application remembering"),
        "reader": required(reader, "The application reading"),
    }


def memory_url(base_url: str, memory_id: str) -> str:
    """Where one memory is. Raises ValueError when it is not named."""
    required(memory_id, "Memory id")
    return f"{base_url}{ROOT}/memories/{quote(memory_id, safe='')}"
