"""What passes between client and provider: as it came, at the client's pace, and with memory never in its way."""

from __future__ import annotations

import asyncio
import io
import json
import socket
import tracemalloc
from collections.abc import Callable
from typing import Any

import openai
import pytest
from aiohttp import AddrInfoType, ClientSession, ClientTimeout, TCPConnector

from runtime_svc.keys import EMBEDDER
from tests.acceptance.chat.conftest import CHAT, GATEWAY, learn, user, words
from tests.chat_provider import Provider
from tests.openai_server import OpenAIServer, memory, openai_server
from tests.services import Service, bearer, start_runtime
from tests.waiting import FOR_EVER, until

Client = Callable[..., openai.AsyncOpenAI]
ANA = {**bearer("ana"), "X-App-Id": "app-1", "Content-Type": "application/json"}


async def post(runtime: Service, body: Any, **headers: str) -> tuple[int, str, Any]:
    """Status, what became of recalling, and the answer."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with runtime.client.post(CHAT, data=io.BytesIO(raw), headers={**ANA, **headers}) as response:
        return response.status, response.headers.get("X-Memory-Recall", ""), await response.json()


def asking(content: Any = "Hi", **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [user(content)], **more}


async def test_unknown_members_tools_and_numbers_pass_untouched(runtime: Service, provider: Provider) -> None:
    await learn(runtime, "Likes tea")
    tool = '{"type":"function","function":{"name":"f","parameters":{"x":1.0,"y":1e400}}}'
    raw = (
        '{"model":"m","temperature":1.0,"seed":12345678901234567890123,"app_id":"app-1","tools":[' + tool + "],"
        '"unknown":{"a":[null,-0.0]},"messages":[{"role":"user","content":"tea \\ud83c\\udf75","x_y":1.10}],"learn":"off"}'
    )

    status, told, _ = await post(runtime, raw.encode())

    assert (status, told) == (200, "recalled; memories=1")
    sent = provider.asked[0].decode()
    assert '"temperature":1.0,"seed":12345678901234567890123,"tools":[' + tool + "]" in sent
    assert '"unknown":{"a":[null,-0.0]}' in sent
    assert '{"role":"user","content":"tea \\ud83c\\udf75","x_y":1.10}]' in sent
    assert "app_id" not in sent
    assert "learn" not in sent


async def test_what_cannot_be_read_is_refused_and_a_large_picture_is_not(runtime: Service, provider: Provider) -> None:
    for raw in (b"", b"{", b"[]", b"\xff", b'{"messages":[],"messages":[]}'):
        status, _, said = await post(runtime, raw)
        assert (status, said["code"], said["error"]["message"]) == (400, "unreadable", said["detail"])
    assert (await post(runtime, b"{}", **{"Content-Type": "text/plain"}))[0] == 415
    assert (await post(runtime, b" " * (21 * 1024 * 1024)))[0] == 413
    assert provider.asked == []

    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 5_000_000}}
    status, _, _ = await post(runtime, asking([{"type": "text", "text": "What is it?"}, picture]))

    assert status == 200
    assert provider.said()["messages"][-1]["content"][1] == picture


@pytest.mark.parametrize("content", ["a\0b", "a\ud800b", "", " \n", None, 5, [], "x" * 100_000])
async def test_a_message_that_memory_cannot_read_passes_without_it(
    runtime: Service, provider: Provider, content: Any
) -> None:
    body = asking(content, learn="verbatim")

    status, told, _ = await post(runtime, body)

    assert status == 200
    assert told.startswith(("left-out; reason=", "nothing-found"))
    assert provider.said() == {"model": "m", "messages": body["messages"]}


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_provider_that_refuses_keeps_its_status_and_its_words(
    runtime: Service,
    provider: Provider,
    status: int,
    stream: bool,  # noqa: FBT001 (pytest passes it by name)
) -> None:
    provider.status, provider.body = status, b'{"error": {"message": "No.", "type": "t"}}'
    provider.headers = {"Retry-After": "7", "X-RateLimit-Remaining": "0", "Set-Cookie": "a=b", "Server": "secret"}

    async with runtime.client.post(CHAT, json=asking(stream=stream, learn="verbatim"), headers=ANA) as response:
        assert response.status == status
        assert await response.json() == {"error": {"message": "No.", "type": "t"}}
        assert response.headers["Retry-After"] == "7"
        assert response.headers["X-RateLimit-Remaining"] == "0"
        assert "Set-Cookie" not in response.headers

    assert await words(runtime) == []


async def test_a_provider_that_is_not_there_is_a_502_and_one_that_is_not_named_a_503(
    settings_environment: pytest.MonkeyPatch, database: str
) -> None:
    for address, status, code in (("http://127.0.0.1:9/v1", 502, "provider_failed"), ("", 503, "not_configured")):
        settings_environment.setenv("MEMORY_CHAT_BASE_URL", address)
        runtime = await start_runtime(database)
        try:
            got, _, said = await post(runtime, asking())
            assert (got, said["code"], said["error"]["code"]) == (status, code, code)
            assert (await runtime.get(f"{GATEWAY}/models"))[0] == status
        finally:
            await runtime.client.close()


async def test_a_provider_that_breaks_off_becomes_an_error_event(client: Client, provider: Provider) -> None:
    provider.words, provider.breaks_off_after = ["one", "two", "three"], 2
    stream = await client().chat.completions.create(model="m", messages=[user("Hi")], stream=True)

    assert (await anext(aiter(stream))).choices[0].delta.content == "one"
    assert (await anext(aiter(stream))).choices[0].delta.content == "two"
    with pytest.raises(openai.APIError, match="broke off"):
        await anext(aiter(stream))


async def test_each_word_arrives_when_it_is_said(client: Client, provider: Provider) -> None:
    provider.words, provider.holds_after = ["one", "two"], 1
    provider.gate.hold()
    stream = await client().chat.completions.create(model="m", messages=[user("Hi")], stream=True)

    first = await anext(aiter(stream))

    assert first.choices[0].delta.content == "one"
    assert provider.streaming == 1
    provider.gate.let_go()
    assert (await anext(aiter(stream))).choices[0].delta.content == "two"
    await stream.close()


@pytest.mark.parametrize("after", [0, 1])
async def test_a_client_that_leaves_ends_the_providers_work(
    runtime: Service, client: Client, provider: Provider, after: int
) -> None:
    provider.words, provider.holds_after = ["word"] * 100, after
    provider.gate.hold()
    stream = await client().chat.completions.create(model="m", messages=[user("Hi")], stream=True)
    await until(lambda: provider.streaming == 1)
    if after:
        await anext(aiter(stream))

    await stream.close()

    await until(lambda: provider.left == 1)
    assert provider.streaming == 0


async def test_memory_that_fails_or_is_slow_is_left_out_and_said(
    runtime: Service, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    await learn(runtime, "Likes tea")
    embedder = runtime.client.server.app[EMBEDDER]

    async def broken(_: list[str]) -> list[Any]:
        raise RuntimeError("Likes tea")

    monkeypatch.setattr(type(embedder), "embed", lambda _, texts: broken(texts))
    status, told, _ = await post(runtime, asking("tea?"))

    assert (status, told) == (200, "left-out; reason=error")
    assert provider.said() == asking("tea?")


async def test_recalling_takes_no_longer_than_its_budget(
    settings_environment: pytest.MonkeyPatch, database: str, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings_environment.setenv("MEMORY_CHAT_BASE_URL", provider.url)
    settings_environment.setenv("MEMORY_RECALL_BUDGET_MS", "100")
    runtime = await start_runtime(database)
    embedder = runtime.client.server.app[EMBEDDER]
    monkeypatch.setattr(type(embedder), "embed", lambda *_: asyncio.sleep(600))
    try:
        async with asyncio.timeout(FOR_EVER):
            status, told, _ = await post(runtime, asking("tea?"))
    finally:
        await runtime.client.close()

    assert (status, told) == (200, "left-out; reason=time-budget")


def with_little_room(address: AddrInfoType) -> socket.socket:
    """A socket of which the system keeps little: what is on its way is soon the service's."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8_192)
    made.settimeout(0)
    return made


@pytest.mark.timeout(240)
async def test_many_stuck_readers_of_long_streams_take_little_memory(runtime: Service, provider: Provider) -> None:
    count, word = 20, "x" * 16_000
    provider.words = [word] * 1_000
    let_go = asyncio.Event()

    async def read_a_little(session: ClientSession) -> None:
        async with session.post(runtime.client.make_url(CHAT), json=asking(stream=True), headers=ANA) as response:
            await response.content.readany()
            await let_go.wait()
            response.close()

    async def at_rest() -> None:
        """The provider has written what the kernel's buffers and the service take, and nothing more for a second."""
        seen = -1
        while provider.streaming < count or seen < provider.written:
            assert tracemalloc.get_traced_memory()[1] < count * 1_000_000
            seen = provider.written
            await asyncio.sleep(1)

    tracemalloc.start()
    try:
        connector = TCPConnector(limit=0, socket_factory=with_little_room)
        async with ClientSession(connector=connector, timeout=ClientTimeout(None), read_bufsize=4096) as session:
            reading = [asyncio.create_task(read_a_little(session)) for _ in range(count)]
            async with asyncio.timeout(100):
                await at_rest()
            held_back = provider.streaming
            let_go.set()
            await asyncio.gather(*reading)
    finally:
        tracemalloc.stop()

    assert held_back == count
    await until(lambda: provider.streaming == 0)


@pytest.fixture
async def llm() -> Any:
    async with openai_server() as server:
        yield server


async def test_with_an_llm_the_turn_is_learned_from_and_not_twice(
    settings_environment: pytest.MonkeyPatch, database: str, provider: Provider, llm: OpenAIServer
) -> None:
    llm.answer = memory("Ana plays the cello")
    settings_environment.setenv("MEMORY_CHAT_BASE_URL", provider.url)
    settings_environment.setenv("AGENT_RUNTIMES_MEM0_CONFIG_JSON", json.dumps({"llm": llm.llm()}))
    provider.words = ["How nice, ", "a cello!"]
    runtime = await start_runtime(database)

    async def learned() -> bool:
        return await words(runtime) == ["Ana plays the cello"]

    try:
        async with runtime.client.post(CHAT, json=asking("I play the cello", stream=True), headers=ANA) as response:
            assert response.status == 200
            await response.read()
        await until(learned)
        call = [user("I play the cello"), {"role": "assistant", "content": None}, {"role": "tool", "content": "x"}]
        await post(runtime, {"model": "m", "messages": call})
        await post(runtime, asking("I play the cello", learn="off"))
    finally:
        await runtime.client.close()

    assert len(llm.requests) == 1
    assert "I play the cello" in llm.prompt()
    assert "How nice, a cello!" in llm.prompt()
