"""Which LLM and which embedder mem0 speaks to: the setting AGENT_RUNTIMES_MEM0_CONFIG_JSON, read and checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.settings import BadSettingError

SETTING = "AGENT_RUNTIMES_MEM0_CONFIG_JSON"

_OURS = {
    "vector_store": "the store is chosen by AGENT_RUNTIMES_MEM0_BACKEND",
    "history_db_path": "history is kept in the store",
    "graph_store": "mem0 2 has no graph store",
}
_KNOWN = {"llm", "embedder", "reranker", "custom_instructions", "version"}


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider that mem0 knows by name, and what it is configured with."""

    name: str
    config: Mapping[str, Any] = field(repr=False)
    """Holds keys: left out of every representation."""


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """What the setting says. Nothing given: learning keeps words as they are, with the built-in embedder."""

    llm: Provider | None = None
    embedder: Provider | None = None
    reranker: Provider | None = None
    """Asked only where a search says `rerank`."""
    instructions: str | None = None
    """Custom instructions for every extraction."""


def read_config(text: str | None, *, openrouter: bool) -> EngineConfig:
    """The checked setting; `openrouter` when the environment has a key of it. Raises BadSettingError.

    Whether a provider accepts its part is known when the engine opens.
    """
    if text is None or not text.strip():
        return EngineConfig()
    given = _object(text)
    for name in given:
        if name in _OURS:
            raise BadSettingError(f"{SETTING} does not take {name}: {_OURS[name]}.")
        if name not in _KNOWN:
            raise BadSettingError(f"{SETTING} has a member that it does not know; it takes llm, embedder and reranker.")
    config = EngineConfig(
        _provider(given, "llm"), _provider(given, "embedder"), _provider(given, "reranker"), _instructions(given)
    )
    if openrouter:
        _refuse_redirection(config.llm)
    return config


def _object(text: str) -> dict[str, Any]:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        # `from None`: the decoder's error holds the whole text, and with it the keys.
        place = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise BadSettingError(f"{SETTING} is not JSON{place}.") from None
    if not isinstance(given, dict):
        raise BadSettingError(
            f'{SETTING} is a JSON object such as {{"llm": {{"provider": "openai", "config": {{}}}}}}.'
        )
    return given


def _provider(given: Mapping[str, Any], part: str) -> Provider | None:
    value = given.get(part)
    if value is None:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("provider"), str) or not value["provider"]:
        raise BadSettingError(f'{SETTING}: {part} is an object with a "provider" and its "config".')
    config = value.get("config")
    if config is not None and not isinstance(config, dict):
        raise BadSettingError(f"{SETTING}: {part}.config is an object.")
    if set(value) - {"provider", "config"}:
        raise BadSettingError(f'{SETTING}: {part} takes "provider" and "config" only.')
    return Provider(value["provider"], config or {})


def _instructions(given: Mapping[str, Any]) -> str | None:
    value = given.get("custom_instructions")
    if value is not None and not isinstance(value, str):
        raise BadSettingError(f"{SETTING}: custom_instructions is text.")
    return value or None


def _refuse_redirection(llm: Provider | None) -> None:
    """mem0's openai provider sends every conversation to OpenRouter as soon as that key stands in the environment."""
    if llm is not None and llm.name == "openai" and not llm.config.get("openrouter_base_url"):
        raise BadSettingError(
            "OPENROUTER_API_KEY is set: mem0 would send conversations to OpenRouter instead of the provider named in "
            f"{SETTING}. Unset it, or ask for it with llm.config.openrouter_base_url."
        )
