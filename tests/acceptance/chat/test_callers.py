"""Who converses: a person, a key, the machine, somebody in another's name, and nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import openai
import pytest
from click.testing import CliRunner

from shared.cli import main
from tests.acceptance.chat.conftest import CHAT, GATEWAY, ask, context, learn, user, words
from tests.chat_provider import Provider
from tests.services import MACHINE, Service, bearer, start_runtime

DIET = "I am vegetarian and avoid gluten"
QUESTION = "Suggest a dinner for my diet"

Client = Callable[..., openai.AsyncOpenAI]


@pytest.mark.parametrize("headers", [{}, bearer("visitor", anonymous=True), bearer("visitor", embed=True)])
async def test_nobodys_conversation_passes_with_nothing_recalled_or_kept(
    runtime: Service, provider: Provider, headers: dict[str, str]
) -> None:
    await learn(runtime, DIET)
    body = {"model": "m", "messages": [user(DIET)], "app_id": "app-1", "learn": "verbatim"}

    async with runtime.client.post(CHAT, json=body, headers=headers) as response:
        assert (response.status, response.headers["X-Memory-Recall"]) == (200, "left-out; reason=nobody")

    assert provider.said() == {"model": "m", "messages": [user(DIET)]}
    assert await words(runtime, "visitor") == []


async def test_nobody_is_refused_where_the_settings_say_so(
    settings_environment: pytest.MonkeyPatch, database: str, provider: Provider
) -> None:
    settings_environment.setenv("MEMORY_CHAT_BASE_URL", provider.url)
    settings_environment.setenv("MEMORY_CHAT_NOBODY", "off")
    runtime = await start_runtime(database)
    body = {"model": "m", "messages": [user(DIET)]}
    try:
        for headers, status in (({}, 401), (bearer("visitor", embed=True), 403)):
            assert (await runtime.post(CHAT, uid=None, json=body, headers=headers))[0] == status
            assert (await runtime.get(f"{GATEWAY}/models", uid=None, headers=headers))[0] == status
    finally:
        await runtime.client.close()

    assert provider.asked == []


async def test_a_bound_key_names_the_application_and_no_other(runtime: Service, provider: Provider) -> None:
    await learn(runtime, DIET)
    _, view = await runtime.post("/api/v1/apps/api-keys", uid="ana", json={"application": "app-1"})
    headers = {"Authorization": f"Bearer {view['key']}"}
    body = {"model": "m", "messages": [user(QUESTION)]}

    assert (await runtime.post(CHAT, uid=None, json=body, headers=headers))[0] == 200
    assert DIET in context(provider)
    assert (await runtime.post(CHAT, uid=None, json={**body, "app_id": "app-2"}, headers=headers))[0] == 403
    assert len(provider.asked) == 1


async def test_a_conversation_in_anothers_name_stands_in_that_persons_record(
    runtime: Service, provider: Provider, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await learn(runtime, DIET)
    monkeypatch.setenv("DATALAYER_POSTGRESQL_AGENT_MEMORIES_URI", database)
    arguments = ["key", "create", "--owner", "ops", "--scope", "users:impersonate", "--all-applications"]
    made = await asyncio.to_thread(CliRunner().invoke, main, arguments)
    headers = {"X-API-Key": made.output.strip(), "X-On-Behalf-Of": "ana", "X-App-Id": "app-1"}

    await runtime.post(CHAT, uid=None, json={"model": "m", "messages": [user(QUESTION)]}, headers=headers)

    assert DIET in context(provider)
    [one] = (await runtime.get("/api/v1/apps/memory-access", uid="ana"))[1]["access"]
    assert (one["actor"], one["door"], one["verb"], one["memories"]) == ("ops", "chat", "recall", 1)


async def test_the_machine_converses_as_its_owner(runtime: Service, provider: Provider) -> None:
    await learn(runtime, DIET, uid="owner-1")
    headers = {"Authorization": f"Bearer {MACHINE}", "X-App-Id": "app-1"}

    await runtime.post(CHAT, uid=None, json={"model": "m", "messages": [user(QUESTION)]}, headers=headers)

    assert DIET in context(provider)


async def test_the_provider_hears_the_operators_key_and_nothing_of_the_caller(
    client: Client, provider: Provider
) -> None:
    await ask(client(), QUESTION)

    [sent] = provider.sent
    assert sent["Authorization"] == "Bearer the-operators-key"
    assert "X-App-Id" not in sent
