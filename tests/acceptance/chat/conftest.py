"""A runtime whose conversations go to a provider on loopback, and the official OpenAI client to speak with it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import openai
import pytest

from tests.chat_provider import Provider, chat_provider
from tests.services import Service, start_runtime, token

GATEWAY = "/api/v1/llm/gateway"
CHAT = f"{GATEWAY}/chat/completions"
NATIVE = "/api/v1/apps/memories/app-1"


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with chat_provider() as one:
        yield one


@pytest.fixture
def chat_settings(settings_environment: pytest.MonkeyPatch, provider: Provider) -> pytest.MonkeyPatch:
    settings_environment.setenv("MEMORY_CHAT_BASE_URL", provider.url)
    settings_environment.setenv("MEMORY_CHAT_API_KEY", "the-operators-key")
    return settings_environment


@pytest.fixture
async def runtime(chat_settings: pytest.MonkeyPatch, database: str) -> AsyncIterator[Service]:
    service = await start_runtime(database)
    yield service
    await service.client.close()


@pytest.fixture
async def client(runtime: Service) -> AsyncIterator[Callable[..., openai.AsyncOpenAI]]:
    """Makes official clients: of a person, in an application."""
    made: list[openai.AsyncOpenAI] = []

    def make(uid: str = "ana", app: str | None = "app-1", **options: Any) -> openai.AsyncOpenAI:
        made.append(
            openai.AsyncOpenAI(
                base_url=str(runtime.client.make_url(GATEWAY)),
                api_key=token(uid),
                default_headers={} if app is None else {"X-App-Id": app},
                max_retries=0,
                **options,
            )
        )
        return made[-1]

    yield make
    for one in made:
        await one.close()


async def learn(runtime: Service, *facts: str, uid: str = "ana", path: str = NATIVE) -> None:
    for fact in facts:
        status, said = await runtime.post(path, json={"memory": fact, "wait": True}, uid=uid)
        assert status == 200, said


async def words(runtime: Service, uid: str = "ana", path: str = NATIVE) -> list[str]:
    return [one["memory"] for one in (await runtime.get(path, uid=uid))[1]["memories"]]


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


async def ask(client: openai.AsyncOpenAI, content: Any, **more: Any) -> str:
    said = await client.chat.completions.create(model="m", messages=[user(content)], **more)
    return said.choices[0].message.content


def context(provider: Provider) -> str:
    """The system messages of the last request."""
    return "\n".join(m["content"] for m in provider.said()["messages"] if m["role"] == "system")
