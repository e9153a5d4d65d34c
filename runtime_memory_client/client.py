"""The same as methods of one object that knows the token and where the services are, and all else that they do."""

from __future__ import annotations

from typing import Any, Self, Unpack, cast
from urllib.parse import quote

from runtime_memory_client import runtimes, types
from runtime_memory_client.checks import confirmed, required
from runtime_memory_client.request import Query, new_session, send, send_for_bytes

_APPS = "/api/v1/apps"


class AgentRuntimesClient:
    """Reaches what applications remember of one person; use it as `async with`.

    `base_url` is the platform's; None for a runtime on the local store, which stands alone. `runtime_url` is the
    runtime's: learning, searching and recalling are done there.
    """

    def __init__(
        self, token: str, *, base_url: str | None = runtimes.DEFAULT_BASE_URL, runtime_url: str | None = None
    ) -> None:
        self._token = token
        self._base = None if base_url is None else base_url.rstrip("/")
        self._runtime = None if runtime_url is None else runtime_url.rstrip("/")

    async def __aenter__(self) -> Self:
        self._session = new_session()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def list_runtime_memories(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
        show_expired: bool = False,
    ) -> types.MemoryList:
        """What applications remember of the person, newest first; with `q`, those with these words, best first."""
        asked = runtimes.list_query(
            user_id=user_id,
            agent_id=agent_id,
            limit=limit,
            offset=offset,
            cursor=cursor,
            q=q,
            show_expired=show_expired,
        )
        said = await self._send("GET", self._platform("/memories"), query=asked)
        return runtimes.memory_list(said, limit=limit, offset=offset)

    async def get_runtime_memory(self, memory_id: str) -> types.RuntimeMemory:
        """One, by id."""
        said = await self._send("GET", self._memory(memory_id))
        return cast("types.RuntimeMemory", said["memory"])

    async def correct_runtime_memory(self, memory_id: str, memory: str) -> types.RuntimeMemory:
        """New words for one, in place."""
        required(memory, "What it should remember")
        said = await self._send("PATCH", self._memory(memory_id), body={"memory": memory})
        return cast("types.RuntimeMemory", said["memory"])

    async def forget_runtime_memory(self, memory_id: str) -> int:
        """Forget one."""
        return runtimes.forgotten(await self._send("DELETE", self._memory(memory_id)))

    async def forget_runtime_memories(self, agent_id: str, count: int) -> int:
        """Forget all that an application remembers, no more than was confirmed."""
        query: Query = {"agent_id": required(agent_id, "Agent id"), "count": confirmed(count)}
        return runtimes.forgotten(await self._send("DELETE", self._platform("/memories"), query=query))

    async def list_runtime_memory_shares(
        self, *, source: str | None = None, reader: str | None = None
    ) -> list[types.Share]:
        """What the person allows applications to read of each other."""
        query: Query = {"source": (source or "").strip(), "reader": (reader or "").strip()}
        return runtimes.list_of(await self._send("GET", self._platform("/memory-shares"), query=query), "shares")

    async def allow_runtime_memory_share(self, source: str, reader: str) -> types.Share:
        """Let `reader` use what `source` remembers."""
        body = runtimes.pair(source, reader)
        return cast("types.Share", (await self._send("PUT", self._platform("/memory-shares"), body=body))["share"])

    async def stop_runtime_memory_share(self, source: str, reader: str) -> None:
        """Stop sharing."""
        await self._send("DELETE", self._platform("/memory-shares"), query=runtimes.pair(source, reader))

    async def history(self, memory_id: str) -> list[types.Revision]:
        """What became of one memory, oldest first."""
        return runtimes.list_of(await self._send("GET", f"{self._memory(memory_id)}/history"), "history")

    async def applications(self) -> list[types.RememberingApplication]:
        """The applications that remember something of the person."""
        return runtimes.list_of(await self._send("GET", self._either("/memory-applications")), "applications")

    async def receipts(self, *, limit: int | None = None, offset: int | None = None) -> list[types.Receipt]:
        """What was forgotten, newest first: when and how much, never what."""
        query: Query = {"limit": limit, "offset": offset}
        return runtimes.list_of(await self._send("GET", self._either("/memory-receipts"), query=query), "receipts")

    async def access(self, *, limit: int | None = None, offset: int | None = None) -> list[types.Access]:
        """Who looked in the person's name, newest first."""
        query: Query = {"limit": limit, "offset": offset}
        return runtimes.list_of(await self._send("GET", self._either("/memory-access"), query=query), "access")

    async def list_api_keys(self) -> list[types.ApiKey]:
        """The person's keys, without their texts."""
        return runtimes.list_of(await self._send("GET", self._either("/api-keys")), "keys")

    async def create_api_key(
        self, name: str, *, application: str | None = None, expires_at: str | None = None
    ) -> types.ApiKey:
        """A new key, for one application or, without one, for all; its text is in this answer only."""
        body = {"name": name, "application": application, "expires_at": expires_at}
        asked = {**body, "all_applications": application is None}
        return cast("types.ApiKey", await self._send("POST", self._either("/api-keys"), body=asked))

    async def revoke_api_key(self, key_id: str) -> None:
        """End a key, at once."""
        await self._send("DELETE", self._either(f"/api-keys/{_segment(key_id, 'Key id')}"))

    async def list_snapshots(self) -> list[types.Snapshot]:
        """The snapshots there are, newest first."""
        return runtimes.list_of(await self._send("GET", self._state("/states")), "states")

    async def current_state(self) -> dict[str, Any]:
        """Everything that is remembered now."""
        return await self._send("GET", self._state("/state"))

    async def save_snapshot(self) -> dict[str, Any]:
        """Keep what is remembered now."""
        return await self._send("POST", self._state("/state"))

    async def get_snapshot(self, snapshot_id: str) -> dict[str, Any]:
        """One snapshot, with its content."""
        return await self._send("GET", self._snapshot(snapshot_id))

    async def restore_snapshot(self, snapshot_id: str, *, respect_forgotten: bool = False) -> dict[str, Any]:
        """Replace what is remembered by a snapshot."""
        query: Query = {"respect_forgotten": True if respect_forgotten else None}
        return await self._send("POST", self._snapshot(snapshot_id), query=query)

    async def download_snapshot(self, snapshot_id: str) -> bytes:
        """A snapshot as a document that can be taken in again."""
        url = self._snapshot(snapshot_id)
        return await send_for_bytes("GET", url, self._token, query={"export": True}, session=self._session)

    async def import_snapshot(self, document: bytes) -> types.Snapshot:
        """Keep a downloaded document as a snapshot."""
        return cast("types.Snapshot", await self._send("POST", self._state("/states"), body=document))

    async def delete_snapshot(self, snapshot_id: str) -> None:
        """Forget a snapshot."""
        await self._send("DELETE", self._snapshot(snapshot_id))

    async def learn(self, app: str, **lesson: Unpack[types.Lesson]) -> types.Learned:
        """Have an application learn, by its uid: one memory in words, or the messages of a conversation."""
        return cast("types.Learned", await self._send("POST", self._app(app), body=lesson))

    async def search(self, app: str, query: str, *, limit: int = 10, threshold: float | None = None) -> types.Found:
        """What an application remembers that answers best, by meaning and by words."""
        body = {"query": query, "limit": limit, "threshold": threshold}
        return cast("types.Found", await self._send("POST", self._app(app, "/search"), body=body))

    async def recall(
        self,
        app: str,
        query: str,
        *,
        limit: int = 10,
        threshold: float | None = None,
        max_tokens: int | None = None,
        inject_memory_timestamps: bool = True,
    ) -> types.Recalled:
        """The same, with a block of it for an LLM."""
        how = {"max_tokens": max_tokens, "inject_memory_timestamps": inject_memory_timestamps}
        body = {"query": query, "limit": limit, "threshold": threshold, **how}
        return cast("types.Recalled", await self._send("POST", self._app(app, "/recall"), body=body))

    def _address(self) -> str:
        if self._base is None:
            raise ValueError("This runtime stands alone: there is no platform beside it")
        return self._base

    def _memory(self, memory_id: str) -> str:
        return runtimes.memory_url(self._address(), memory_id)

    def _platform(self, path: str) -> str:
        return f"{self._address()}{runtimes.ROOT}{path}"

    def _state(self, path: str) -> str:
        return f"{self._address()}/api/memory{path}"

    def _snapshot(self, snapshot_id: str) -> str:
        return self._state(f"/state/{_segment(snapshot_id, 'Snapshot id')}")

    def _either(self, path: str) -> str:
        return f"{self._runtime}{_APPS}{path}" if self._base is None else self._platform(path)

    def _app(self, app: str, path: str = "") -> str:
        if self._runtime is None:
            raise ValueError("runtime_url is required")
        return f"{self._runtime}{_APPS}/memories/{_segment(app, 'Application')}{path}"

    async def _send(self, method: str, url: str, *, query: Query | None = None, body: object = None) -> dict[str, Any]:
        return await send(method, url, self._token, query=query, body=body, session=self._session)


def _segment(value: str, what: str) -> str:
    required(value, what)
    return quote(value, safe="")
