"""A body that cannot be read is refused for what is wrong with it, in one shape, and changes nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.services import Service, bearer

APP = "/api/v1/apps/memories/desk"
READ_BODIES = (
    ("POST", APP),
    ("POST", f"{APP}/search"),
    ("PATCH", f"{APP}/00000000-0000-4000-8000-000000000000"),
    ("POST", "/v1/memories/"),
    ("POST", "/v2/memories/search/"),
    ("POST", "/api/v1/llm/gateway/search-memories"),
    ("POST", "/api/v1/apps/api-keys"),
)
OF_PLATFORM = (
    ("PATCH", "/api/runtimes/v1/memories/00000000-0000-4000-8000-000000000000"),
    ("PUT", "/api/runtimes/v1/memory-shares"),
)
NOT_READ = [
    b"[]",
    b"null",
    b'"x"',
    b"{bad",
    b"\xff\xfe{}",
    b"1",
    b'{"memory": NaN}',
    b'{"a": 1, "a": 2}',
    b"[" * 50_000,
]


async def in_chunks(size: int) -> AsyncIterator[bytes]:
    """A body whose length nobody is told."""
    yield b'{"memory": "'
    for _ in range(size // 65536):
        yield b"x" * 65536
    yield b'"}'


async def refused(service: Service, method: str, path: str, data: object, content_type: str) -> int:
    headers = {**bearer("ana"), "Content-Type": content_type}
    async with service.client.request(method, path, data=data, headers=headers) as response:
        said = await response.json()
        assert set(said) >= {"detail", "error", "message", "code"}, (path, said)
        assert said["detail"] == said["error"] == said["message"]
        return response.status


@pytest.mark.field("B83")
async def test_a_body_that_cannot_be_read_is_refused_for_what_is_wrong_with_it(
    runtime: Service, platforms: list[Service]
) -> None:
    asked = [(runtime, *one) for one in READ_BODIES]
    asked += [(platform, *one) for platform in platforms for one in OF_PLATFORM]
    for service, method, path in asked:
        for raw in NOT_READ:
            assert await refused(service, method, path, raw, "application/json") == 400, (path, raw[:20])
        assert await refused(service, method, path, b'{"memory": "x"}', "text/plain") == 415
        assert await refused(service, method, path, in_chunks(5 * 1024**2), "application/json") == 413, path
        assert 400 <= await refused(service, method, path, b"", "application/json") < 500

    assert (await runtime.get(APP, uid="ana"))[1]["total"] == 0
