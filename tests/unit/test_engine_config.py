"""The setting AGENT_RUNTIMES_MEM0_CONFIG_JSON: its faults are sentences that name it and quote nothing."""

from __future__ import annotations

import json

import pytest

from runtime_svc.engine.config import SETTING, EngineConfig, read_config
from shared.settings import BadSettingError

SECRET = "sk-very-secret"
OPENAI = {"provider": "openai", "config": {"api_key": SECRET, "model": "m"}}


@pytest.mark.parametrize("text", [None, "", "  ", "{}"])
def test_nothing_given_is_no_llm_and_the_built_in_embedder(text: str | None) -> None:
    assert read_config(text, openrouter=False) == EngineConfig()


def test_both_parts_are_read() -> None:
    config = read_config(
        json.dumps({"llm": OPENAI, "embedder": {"provider": "ollama"}, "custom_instructions": "x"}), openrouter=False
    )

    assert config.llm is not None
    assert config.llm.name == "openai"
    assert config.llm.config == OPENAI["config"]
    assert config.embedder is not None
    assert config.embedder.config == {}
    assert config.instructions == "x"


def test_a_key_is_in_no_representation() -> None:
    assert SECRET not in repr(read_config(json.dumps({"llm": OPENAI}), openrouter=False))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f'{{"llm": {{"config": {{"api_key": "{SECRET}"', "is not JSON (line 1"),
        ("[" * 100_000, "is not JSON"),
        (f'["{SECRET}"]', "is a JSON object such as"),
        (f'{{"llm": "{SECRET}"}}', "llm is an object with"),
        (f'{{"llm": {{"provider": 5, "config": {{"api_key": "{SECRET}"}}}}}}', "llm is an object with"),
        ('{"llm": {"provider": ""}}', "llm is an object with"),
        (f'{{"embedder": {{"provider": "openai", "config": ["{SECRET}"]}}}}', "embedder.config is an object"),
        (f'{{"llm": {{"provider": "openai", "api_key": "{SECRET}"}}}}', 'takes "provider" and "config" only'),
        ('{"vector_store": {"provider": "qdrant"}}', "AGENT_RUNTIMES_MEM0_BACKEND"),
        ('{"history_db_path": "/tmp/x"}', "does not take history_db_path"),
        ('{"reranker": {}}', 'reranker is an object with a "provider"'),
        (f'{{"{SECRET}": 1}}', "has a member that it does not know"),
        ('{"custom_instructions": 5}', "custom_instructions is text"),
    ],
)
def test_a_fault_is_a_sentence_that_names_the_setting_and_no_secret(text: str, says: str) -> None:
    with pytest.raises(BadSettingError) as fault:
        read_config(text, openrouter=False)

    assert SETTING in str(fault.value)
    assert says in str(fault.value)
    assert SECRET not in str(fault.value)
    assert fault.value.__cause__ is None
    assert fault.value.__suppress_context__ or fault.value.__context__ is None


def test_a_key_of_openrouter_would_redirect_every_conversation_and_is_refused() -> None:
    with pytest.raises(BadSettingError, match="OPENROUTER_API_KEY is set"):
        read_config(json.dumps({"llm": OPENAI}), openrouter=True)


def test_openrouter_is_used_when_it_is_asked_for() -> None:
    asked = {**OPENAI, "config": {"openrouter_base_url": "https://openrouter.ai/api/v1"}}

    assert read_config(json.dumps({"llm": asked}), openrouter=True).llm is not None


def test_a_key_of_openrouter_is_no_matter_to_other_providers() -> None:
    assert read_config('{"llm": {"provider": "ollama"}}', openrouter=True).llm is not None
