"""A program with an API key, as the Mem0 dialect knows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.services import Service


@dataclass
class Program:
    """Calls with a key, and expects 200 unless told otherwise."""

    service: Service
    key: str

    async def call(self, method: str, path: str, *, status: int = 200, **more: Any) -> Any:
        headers = {"Authorization": f"Token {self.key}", **more.pop("headers", {})}
        found, view = await self.service.call(method, path, uid=None, headers=headers, **more)
        assert found == status, (method, path, found, view)
        return view

    async def add(self, words: str, **said: Any) -> dict[str, Any]:
        """One memory, at once; its item."""
        said = {"user_id": "ana", "infer": False, **said}
        view = await self.call("POST", "/v3/memories/add/", json={"messages": words, **said})
        return view["results"][0]

    async def search(self, query: str, filters: Any, *, version: int = 3, **said: Any) -> list[str]:
        view = await self.call(
            "POST", f"/v{version}/memories/search/", json={"query": query, "filters": filters, **said}
        )
        return [one["memory"] for one in view["results"]]

    async def listed(self, filters: Any, **said: Any) -> list[str]:
        view = await self.call("POST", "/v3/memories/", json={"filters": filters, **said})
        return [one["memory"] for one in view["results"]]


async def program(service: Service, uid: str = "ana", **said: Any) -> Program:
    """A program with a new key of a person."""
    status, view = await service.post("/api/v1/apps/api-keys", uid=uid, json=said or {"all_applications": True})
    assert status == 201, view
    return Program(service, view["key"])
