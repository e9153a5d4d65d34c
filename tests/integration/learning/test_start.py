"""A configuration that cannot be used refuses the start with a sentence; one that can is used."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from runtime_svc.app import create_app
from runtime_svc.settings import RuntimeSettings
from shared.settings import BadSettingError
from tests.openai_server import OpenAIServer, memory
from tests.services import start_runtime

ROOT = Path(__file__).parents[3]
PATH = "/api/v1/apps/memories/one"
CONFIG = "AGENT_RUNTIMES_MEM0_CONFIG_JSON"


async def refused(settings_environment: pytest.MonkeyPatch, dsn: str, config: dict[str, Any]) -> str:
    settings_environment.setenv(CONFIG, json.dumps(config))
    runner = web.AppRunner(create_app(RuntimeSettings.read(), dsn=dsn))
    with pytest.raises(BadSettingError) as fault:
        await runner.setup()
    await runner.cleanup()
    return str(fault.value)


async def test_a_provider_that_mem0_does_not_know_refuses_the_start(settings_environment, database):
    sentence = await refused(
        settings_environment, database, {"llm": {"provider": "nobody", "config": {"api_key": "sk-x"}}}
    )

    assert sentence.startswith(f"{CONFIG}: mem0 knows no such llm provider")
    assert "sk-x" not in sentence


async def test_an_embedder_of_another_width_refuses_the_start_naming_both(settings_environment, database, server):
    sentence = await refused(settings_environment, database, {"embedder": server.embedder()})

    assert "8 dimensions" in sentence
    assert "384" in sentence


def test_a_key_that_would_redirect_conversations_refuses_the_start(settings_environment):
    settings_environment.setenv(CONFIG, json.dumps({"llm": {"provider": "openai", "config": {"api_key": "sk-x"}}}))
    settings_environment.setenv("OPENROUTER_API_KEY", "sk-or")

    with pytest.raises(BadSettingError, match="OPENROUTER_API_KEY is set"):
        create_app(RuntimeSettings.read(), dsn="postgresql://nowhere/none")


async def test_the_process_ends_with_the_sentence_and_without_the_secret(tmp_path: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "MEMORY_JWT_SECRET": "x" * 32,
        "AGENT_RUNTIMES_MEM0_BACKEND": "faiss",
        "AGENT_RUNTIMES_MEM0_DIR": str(tmp_path / "kept"),
        "RUNTIME_SHARES": "off",
        CONFIG: json.dumps({"llm": {"provider": "openai", "config": {"api_key": "sk-very-secret", "unknown": 1}}}),
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "runtime_svc", "--port", "1"),
        cwd=ROOT,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()

    assert process.returncode == 2
    assert err.decode().startswith(f"{CONFIG}: the llm provider openai refuses its configuration (TypeError)")
    assert b"sk-very-secret" not in out + err
    assert b"Traceback" not in err


async def test_the_configured_embedder_is_the_one_that_is_used(settings_environment, database, server: OpenAIServer):
    settings_environment.setenv(CONFIG, json.dumps({"llm": server.llm(), "embedder": server.embedder()}))
    settings_environment.setenv("MEMORY_VECTOR_DIMENSIONS", str(server.dimensions))
    server.answer = memory("Likes tea")
    runtime = await start_runtime(database)

    status, told = await runtime.post(
        PATH, json={"messages": [{"role": "user", "content": "I like tea"}], "wait": True}
    )
    _, found = await runtime.post(f"{PATH}/search", json={"query": "tea"})

    assert status == 200, told
    assert [one["memory"] for one in found["memories"]] == ["Likes tea"]
    # Between the two, the descriptions of the categories, once.
    assert server.embedded[-1] == ["tea"]
    assert ["Likes tea"] in server.embedded
    await runtime.client.close()


@pytest.mark.field("B46")
async def test_the_offset_of_a_message_survives_the_queue(settings_environment, database, server: OpenAIServer):
    settings_environment.setenv(CONFIG, json.dumps({"llm": server.llm()}))
    runtime = await start_runtime(database)
    said = {"role": "user", "content": "Today at 12:45 I ate.", "timestamp": "2026-05-01T12:45:00+08:00"}

    status, _ = await runtime.post(PATH, json={"messages": [said], "wait": True})

    assert status == 200
    assert "## Observation Date\n2026-05-01T12:45:00+08:00\n" in server.prompt()
    await runtime.client.close()
