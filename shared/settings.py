"""Settings that both services have: read once from the environment, checked, frozen."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from shared.addresses import origins_of, service_address
from shared.db.collection import Collection
from shared.db.pool import Limits
from shared.errors import CannotStartError
from shared.scope import unusable


class BadSettingError(CannotStartError):
    """A setting is missing or wrong; the sentence names it and never quotes its value."""


class _Files(PydanticBaseSettingsSource):
    """`NAME_FILE` names a file that holds NAME: how a secret reaches a container."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        name = str(field.validation_alias or field_name)
        path = os.environ.get(f"{name}_FILE")
        if path is None:
            return None, name, False
        try:
            return Path(path).read_text("utf-8").strip(), name, False
        except OSError as error:
            raise BadSettingError(f"{name}_FILE names a file that cannot be read.") from error

    def __call__(self) -> dict[str, Any]:
        found = {}
        for field_name, field in self.settings_cls.model_fields.items():
            value, name, _ = self.get_field_value(field, field_name)
            if value is not None:
                found[name] = value
        return found


class Settings(BaseSettings):
    """What both services read. Subclasses add their own."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True, env_ignore_empty=True)

    jwt_secret: SecretStr | None = Field(default=None, validation_alias="MEMORY_JWT_SECRET")
    jwks_url: str | None = Field(default=None, validation_alias="MEMORY_JWKS_URL")
    jwt_audience: str | None = Field(default=None, validation_alias="MEMORY_JWT_AUDIENCE")
    jwt_issuer: str | None = Field(default=None, validation_alias="MEMORY_JWT_ISSUER")
    web_origins: str = Field(default="", validation_alias="MEMORY_WEB_ORIGINS")
    owner: str | None = Field(default=None, validation_alias="DATALAYER_USER_UID")
    pg_uri: SecretStr | None = Field(default=None, validation_alias="DATALAYER_POSTGRESQL_AGENT_MEMORIES_URI")
    pg_host: str | None = Field(default=None, validation_alias="DATALAYER_POSTGRESQL_AGENT_MEMORIES_HOST")
    pg_port: int = Field(default=5432, ge=1, le=65535, validation_alias="DATALAYER_POSTGRESQL_AGENT_MEMORIES_PORT")
    pg_database: str = Field(default="mem0", validation_alias="DATALAYER_POSTGRESQL_AGENT_MEMORIES_DATABASE")
    pg_user: str = Field(default="mem0", validation_alias="DATALAYER_POSTGRESQL_AGENT_MEMORIES_USER")
    pg_password: SecretStr | None = Field(default=None, validation_alias="DATALAYER_POSTGRESQL_AGENT_MEMORIES_PASSWORD")
    collection_name: str = Field(
        default="agent_memories", validation_alias="DATALAYER_POSTGRESQL_AGENT_MEMORIES_COLLECTION"
    )
    dimensions: int = Field(default=384, ge=1, le=16_000, validation_alias="MEMORY_VECTOR_DIMENSIONS")
    migrate: bool = Field(default=True, validation_alias="MEMORY_MIGRATE")
    expiry_grace_days: int = Field(default=30, ge=0, le=36_500, validation_alias="MEMORY_EXPIRY_GRACE_DAYS")
    pool_size: int = Field(default=10, ge=1, le=500, validation_alias="MEMORY_POOL_SIZE")
    statement_timeout: float = Field(default=10.0, gt=0, le=600, validation_alias="MEMORY_STATEMENT_TIMEOUT")

    row_security: bool = Field(default=True, validation_alias="MEMORY_ROW_SECURITY")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,  # noqa: ARG003 (the signature is pydantic's)
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 (the same)
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 (the same)
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment, then files; nothing else."""
        return env_settings, _Files(settings_cls)

    @classmethod
    def read(cls) -> Self:
        """From the environment. Raises BadSettingError, naming the setting and never its value."""
        try:
            return cls()
        except ValidationError as error:
            first = error.errors(include_input=False, include_context=False, include_url=False)[0]
            name = str(first["loc"][0]) if first["loc"] else "A setting"
            raise BadSettingError(f"{name}: {first['msg'].removeprefix('Value error, ')}.") from None

    @field_validator("owner")
    @classmethod
    def _usable_owner(cls, value: str | None) -> str | None:
        if value is not None and (why := unusable(value)) is not None:
            raise ValueError(f"the owner's uid {why}")
        return value

    @field_validator("jwks_url")
    @classmethod
    def _usable_address(cls, value: str | None) -> str | None:
        return None if value is None else service_address(value)

    @field_validator("web_origins")
    @classmethod
    def _usable_origins(cls, value: str) -> str:
        origins_of(value)
        return value

    @field_validator("collection_name")
    @classmethod
    def _usable_collection(cls, value: str) -> str:
        return Collection(value).name

    @field_validator("jwt_secret")
    @classmethod
    def _long_secret(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and len(value.get_secret_value().encode()) < 32:
            raise ValueError("the secret has fewer than 32 bytes")
        return value

    @property
    def collection(self) -> Collection:
        return Collection(self.collection_name)

    @property
    def limits(self) -> Limits:
        return Limits(connections=self.pool_size, statement=self.statement_timeout, row_security=self.row_security)

    def dsn(self) -> str | None:
        """Where PostgreSQL is, or None when nothing says so. Raises BadSettingError."""
        if self.pg_uri is not None:
            uri = self.pg_uri.get_secret_value()
            if urlsplit(uri).scheme not in {"postgresql", "postgres"}:
                raise BadSettingError("DATALAYER_POSTGRESQL_AGENT_MEMORIES_URI is not a postgresql:// address.")
            return uri
        if self.pg_host is None:
            return None
        password = "" if self.pg_password is None else ":" + quote(self.pg_password.get_secret_value(), safe="")
        user = quote(self.pg_user, safe="")
        return f"postgresql://{user}{password}@{self.pg_host}:{self.pg_port}/{quote(self.pg_database, safe='')}"
