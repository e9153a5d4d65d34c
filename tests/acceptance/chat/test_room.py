"""Long bodies of conversations: as much is held of them at once as there is room for, nobody's and persons' apart."""

from __future__ import annotations

import asyncio
import io
import json
from contextlib import AsyncExitStack

import pytest

from runtime_svc.keys import CHAT as DOOR
from tests.acceptance.chat.conftest import CHAT, user
from tests.chat_provider import Provider
from tests.services import Service, bearer
from tests.waiting import FOR_EVER, until

MIB = 1024 * 1024
LONG = json.dumps({"model": "m", "messages": [user("Hi " + "x" * 2 * MIB)]}).encode()


@pytest.fixture
def small_rooms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three bodies of two MiB, of which the first of each takes no room."""
    monkeypatch.setattr("runtime_svc.chat.door.MOST_OF_NOBODY", 3 * MIB + 3 * 1024)
    monkeypatch.setattr("runtime_svc.chat.door.MOST_OF_PERSONS", 3 * MIB + 3 * 1024)


@pytest.fixture
async def rooms(small_rooms: None, runtime: Service) -> Service:
    return runtime


async def stalled(service: Service, held: AsyncExitStack) -> None:
    """A caller without a credential who stops just before the end of a long body."""
    _, writer = await asyncio.open_connection(service.client.host, service.client.port)
    head = f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(LONG)}\r\n\r\n"
    writer.write(head.encode() + LONG[:-1])
    await writer.drain()
    held.callback(writer.close)


async def post(service: Service, *, uid: str | None) -> int:
    headers = {"Content-Type": "application/json", **({} if uid is None else {**bearer(uid), "X-App-Id": "app-1"})}
    async with service.client.post(CHAT, data=io.BytesIO(LONG), headers=headers) as response:
        await response.read()
        return response.status


async def test_who_says_half_of_a_long_body_takes_room_from_nobody_else_for_ever(rooms: Service) -> None:
    door = rooms.client.app[DOOR]
    whole = door.nobodys._left
    async with asyncio.timeout(FOR_EVER), AsyncExitStack() as held:
        for _ in range(3):
            await stalled(rooms, held)
        await until(lambda: door.nobodys._left < MIB)

        assert await post(rooms, uid=None) == 503
        assert await post(rooms, uid="ana") == 200, "a person has a room of their own"
    async with asyncio.timeout(FOR_EVER):
        await until(lambda: door.nobodys._left == whole)
        assert await post(rooms, uid=None) == 200


async def test_each_body_gives_its_room_back(rooms: Service, provider: Provider) -> None:
    door = rooms.client.app[DOOR]
    whole = door.persons._left
    for status in (200, 500, 200):
        provider.status = status
        for _ in range(2):
            await post(rooms, uid="ana")
    assert door.persons._left == whole
    provider.status = 200
    assert await post(rooms, uid="ana") == 200


async def test_a_body_that_does_not_arrive_in_time_is_refused(rooms: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime_svc.handlers.chat._ARRIVES_WITHIN", 0.0)
    reader, writer = await asyncio.open_connection(rooms.client.host, rooms.client.port)
    head = f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(LONG)}\r\n\r\n"
    writer.write(head.encode() + LONG[:1000])
    async with asyncio.timeout(FOR_EVER):
        assert b" 400 " in await reader.readline()
    writer.close()
