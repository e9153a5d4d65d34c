"""In a turn a person's allowances are read once, with their own credential, and never guessed."""

from __future__ import annotations

import asyncio
import json

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from runtime_svc.shares import NO_ADDRESS, WRONG_SHAPE, PlatformShares
from runtime_svc.turns import NoPlatform, SharesUnreadError, Turn
from shared.tokens import Machine, Person
from tests.ports import free_port
from tests.waiting import Gate

READER = "app:one"
CREDENTIAL = {"Authorization": "Bearer a.b.c"}
COULD_NOT = "What you allowed other applications to share with this one could not be read: the runtimes service "


def turn(uid: str = "ana", *, turn_id: str | None = None, credential: dict[str, str] = CREDENTIAL) -> Turn:
    return Turn(Person(uid, actor=uid, via="jwt"), credential, turn_id)


def row(source: object, reader: object = READER) -> dict[str, object]:
    return {"source": source, "reader": reader, "allowed_at": "2026-11-30T15:44:12Z"}


class Platform:
    """A real HTTP server in the platform's place, which can answer anything."""

    def __init__(self) -> None:
        self.answer: object = {"shares": [row("app:two")]}
        self.status, self.gate = 200, Gate()
        self.asked: list[web.Request] = []

    async def shares(self, request: web.Request) -> web.Response:
        self.asked.append(request)
        await self.gate.passed()
        body = self.answer if isinstance(self.answer, bytes) else json.dumps(self.answer).encode()
        headers = (
            {"Location": "/api/runtimes/v1/memory-shares"} if self.status in (301, 307) else {"Set-Cookie": "who=ana"}
        )
        return web.Response(body=body, status=self.status, headers=headers)


@pytest.fixture
async def platform():
    return Platform()


@pytest.fixture
async def shares(platform):
    app = web.Application()
    app.router.add_get("/api/runtimes/v1/memory-shares", platform.shares)
    async with TestServer(app) as server:
        found = PlatformShares(str(server.make_url("/")))
        await found.open()
        yield found
        platform.gate.let_go()
        await found.close()


async def unread(shares: PlatformShares, asked: Turn | None = None) -> str:
    with pytest.raises(SharesUnreadError) as caught:
        await shares.sources(asked or turn(), READER)
    return caught.value.sentence


async def test_the_sources_a_person_allowed_are_read_with_their_own_credential(shares, platform):
    platform.answer = {"shares": [row("app:two"), row("app:three"), row("app:two")]}

    assert await shares.sources(turn(), READER) == ("app:two", "app:three")
    assert platform.asked[0].query == {"reader": READER}
    assert platform.asked[0].headers["Authorization"] == "Bearer a.b.c"


async def test_who_is_impersonated_is_asked_about_and_not_the_key_owner(shares, platform):
    await shares.sources(turn(credential={"X-API-Key": "m0-x", "X-On-Behalf-Of": "ana"}), READER)

    assert platform.asked[0].headers["X-On-Behalf-Of"] == "ana"
    assert platform.asked[0].headers["X-API-Key"] == "m0-x"


async def test_another_readers_rows_and_its_own_are_dropped(shares, platform):
    platform.answer = {"shares": [row("app:two", "app:else"), row(READER), row("app:three")]}

    assert await shares.sources(turn(), READER) == ("app:three",)


async def test_the_machine_reads_its_own_and_nobody_is_asked(shares, platform):
    assert await shares.sources(Turn(Machine("owner-1")), READER) == ()
    assert platform.asked == []


async def test_without_a_platform_every_turn_reads_its_own():
    assert await NoPlatform().sources(turn(), READER) == ()


async def test_a_runtime_that_does_not_know_the_platform_says_so():
    shares = PlatformShares(None)

    assert await unread(shares) == NO_ADDRESS
    assert await shares.sources(Turn(Machine("owner-1")), READER) == ()


@pytest.mark.parametrize("status", [201, 204, 301, 307, 401, 403, 404, 429, 500, 503])
async def test_a_platform_that_refuses_is_said(shares, platform, status):
    platform.status, platform.answer = status, b"" if status == 204 else {"shares": []}

    assert await unread(shares) == f"{COULD_NOT}answered {status}."
    assert len(platform.asked) == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"null",
        {},
        {"shares": None},
        {"shares": {}},
        {"shares": ["app:two"]},
        {"shares": [row(5)]},
        {"shares": [row("two")]},
        {"shares": [row("app:*")]},
        {"shares": [{"reader": READER}]},
        b"[" * 100_000,
        b" " * 1_100_000,
    ],
)
async def test_an_answer_of_another_shape_is_never_guessed_at(shares, platform, answer):
    platform.answer = answer

    assert await unread(shares) == WRONG_SHAPE


async def test_a_platform_that_is_gone_is_said_and_one_that_is_back_is_read(platform):
    app = web.Application()
    app.router.add_get("/api/runtimes/v1/memory-shares", platform.shares)
    port = free_port()
    shares = PlatformShares(f"http://127.0.0.1:{port}/")
    await shares.open()
    try:
        assert await unread(shares) == f"{COULD_NOT}was not reached (ClientConnectorError)."
        async with TestServer(app, port=port):
            assert await shares.sources(turn(), READER) == ("app:two",)
        assert (await unread(shares)).startswith(f"{COULD_NOT}was not reached (")
    finally:
        await shares.close()


async def test_a_platform_that_does_not_answer_in_time_is_said(shares, platform, monkeypatch):
    platform.gate.hold()
    monkeypatch.setattr(shares._session, "_timeout", type(shares._session.timeout)(total=0.05))

    assert await unread(shares) == f"{COULD_NOT}was not reached (TimeoutError)."


async def test_no_cookie_of_one_person_rides_on_anothers_request(shares, platform):
    for uid in ("ana", "bob"):
        await shares.sources(turn(uid), READER)

    assert "Cookie" not in platform.asked[1].headers


async def test_one_turn_asks_once_however_many_requests_it_has(shares, platform):
    platform.gate.hold()
    asking = [asyncio.create_task(shares.sources(turn(turn_id="t1"), READER)) for _ in range(20)]
    await platform.gate.reached()
    platform.gate.let_go()

    assert await asyncio.gather(*asking) == [("app:two",)] * 20
    assert len(platform.asked) == 1


async def test_turns_persons_credentials_and_readers_are_held_apart(shares, platform):
    for asked, reader in (
        (turn(turn_id="t1"), READER),
        (turn(turn_id="t2"), READER),
        (turn("bob", turn_id="t1"), READER),
        (turn(turn_id="t1", credential={"Authorization": "Bearer d.e.f"}), READER),
        (turn(turn_id="t1"), "app:other"),
        (turn(), READER),
        (turn(), READER),
    ):
        await shares.sources(asked, reader)

    assert len(platform.asked) == 7


async def test_a_turn_that_failed_is_not_held(shares, platform):
    platform.status = 503
    assert "503" in await unread(shares, turn(turn_id="t1"))
    platform.status = 200

    assert await shares.sources(turn(turn_id="t1"), READER) == ("app:two",)


async def test_a_request_that_leaves_does_not_end_the_reading_of_its_turn(shares, platform):
    platform.gate.hold()
    leaving = asyncio.create_task(shares.sources(turn(turn_id="t1"), READER))
    staying = asyncio.create_task(shares.sources(turn(turn_id="t1"), READER))
    await platform.gate.reached()
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    platform.gate.let_go()

    assert await staying == ("app:two",)
    assert len(platform.asked) == 1


async def test_what_is_held_of_a_persons_turns_can_be_dropped(shares, platform):
    await shares.sources(turn(turn_id="t1"), READER)
    await shares.sources(turn("bob", turn_id="t1"), READER)

    assert shares.forget(turn(), READER) == 1
    assert shares.forget(turn(), READER) == 0
    await shares.sources(turn("bob", turn_id="t1"), READER)
    assert len(platform.asked) == 2


async def test_the_reason_is_logged_once_and_holds_no_credential(shares, platform, capsys):
    platform.status = 403
    await unread(shares)

    said = capsys.readouterr().out
    assert said.count("shares.unread") == 1
    assert "a.b.c" not in said
