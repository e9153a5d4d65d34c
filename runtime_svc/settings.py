"""Settings of the runtime service."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, field_validator

from shared.addresses import service_address
from shared.settings import Settings


class RuntimeSettings(Settings):
    """What a runtime reads beside what both services do."""

    backend: Literal["auto", "faiss", "postgres"] = Field(
        default="auto", validation_alias="AGENT_RUNTIMES_MEM0_BACKEND"
    )
    directory: Path = Field(default=Path("/tmp/mem0"), validation_alias="AGENT_RUNTIMES_MEM0_DIR")  # noqa: S108 (the contract's)
    mem0_config: SecretStr | None = Field(default=None, validation_alias="AGENT_RUNTIMES_MEM0_CONFIG_JSON")
    openrouter_key: SecretStr | None = Field(default=None, validation_alias="OPENROUTER_API_KEY")
    llm_seconds: float = Field(default=60.0, gt=0, le=600, validation_alias="RUNTIME_LLM_TIMEOUT")
    learn_workers: int = Field(default=6, ge=1, le=64, validation_alias="RUNTIME_LEARN_WORKERS")
    most_waiting: int = Field(default=100, ge=1, le=100_000, validation_alias="RUNTIME_LEARN_WAITING")
    machine_token: SecretStr | None = Field(default=None, validation_alias="RUNTIME_MACHINE_TOKEN")
    trust_loopback: bool | None = Field(default=None, validation_alias="RUNTIME_TRUST_LOOPBACK")
    runtimes_url: str | None = Field(default=None, validation_alias="DATALAYER_RUNTIMES_URL")
    shares: bool = Field(default=True, validation_alias="RUNTIME_SHARES")
    rerank_seconds: float = Field(default=3.0, gt=0, le=60, validation_alias="RUNTIME_RERANK_TIMEOUT")
    categories: bool = Field(default=True, validation_alias="RUNTIME_CATEGORIES")
    entities: bool = Field(default=False, validation_alias="RUNTIME_ENTITIES")
    reembed: bool = Field(default=True, validation_alias="RUNTIME_REEMBED")
    apps_dir: Path | None = Field(default=None, validation_alias="RUNTIME_APPS_DIR")
    private_webhooks: bool = Field(default=False, validation_alias="RUNTIME_WEBHOOKS_PRIVATE")

    chat_base_url: str | None = Field(default=None, validation_alias="MEMORY_CHAT_BASE_URL")
    chat_key: SecretStr | None = Field(default=None, validation_alias="MEMORY_CHAT_API_KEY")
    chat_seconds: float = Field(default=600.0, gt=0, le=3600, validation_alias="MEMORY_CHAT_TIMEOUT")
    chat_nobody: bool = Field(default=True, validation_alias="MEMORY_CHAT_NOBODY")
    recall_budget: int = Field(default=500, ge=1, le=60_000, validation_alias="MEMORY_RECALL_BUDGET_MS")
    mcp_hosts: str | None = Field(default=None, validation_alias="MEMORY_MCP_ALLOWED_HOSTS")
    mcp_origins: str | None = Field(default=None, validation_alias="MEMORY_MCP_ALLOWED_ORIGINS")

    @field_validator("runtimes_url", "chat_base_url")
    @classmethod
    def _usable_address_too(cls, value: str | None) -> str | None:
        return None if value is None else service_address(value)

    @field_validator("machine_token")
    @classmethod
    def _long_token(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and len(value.get_secret_value().encode()) < 32:
            raise ValueError("the machine's token has fewer than 32 bytes")
        return value


def named(value: str | None) -> list[str]:
    """The names in a setting that lists some, parted by commas."""
    return [name for part in (value or "").split(",") if (name := part.strip())]
