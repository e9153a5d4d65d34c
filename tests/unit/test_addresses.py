"""An address that cannot be one is refused at the start, not met in every request."""

from __future__ import annotations

import pytest

from runtime_svc.settings import RuntimeSettings
from shared.addresses import origins_of, service_address
from shared.settings import BadSettingError

BAD = [
    "localhost:8766",
    "8766",
    "ftp://a.example",
    "http://",
    "https://ana:secret@a.example",
    "http://a b",
    "//a",
    "http://[",
    "http://a/#x",
]


@pytest.mark.parametrize("setting", ["*", "app.example", "https://app.example/path", "ftp://app.example", "https://"])
def test_what_is_no_origin_is_refused_at_the_start(setting: str) -> None:
    with pytest.raises(ValueError, match="an origin is written as"):
        origins_of(setting)


def test_origins_are_read_with_or_without_spaces_and_a_last_slash() -> None:
    assert origins_of(" https://A.example/ ,http://localhost:3000,") == {"https://a.example", "http://localhost:3000"}
    assert origins_of("") == frozenset()


@pytest.mark.parametrize("setting", BAD)
def test_what_is_no_address_of_a_service_is_refused(setting: str) -> None:
    with pytest.raises(ValueError):
        service_address(setting)


@pytest.mark.parametrize("name", ["DATALAYER_RUNTIMES_URL", "MEMORY_JWKS_URL"])
def test_a_bad_address_is_named_at_the_start_and_not_repeated(settings_environment, name: str) -> None:
    settings_environment.setenv(name, "https://ana:secret@a.example")
    with pytest.raises(BadSettingError, match=name) as caught:
        RuntimeSettings.read()
    assert "secret" not in str(caught.value)


def test_an_address_is_read_without_spaces_and_a_last_slash() -> None:
    assert service_address(" http://127.0.0.1:8766/ ") == "http://127.0.0.1:8766"
    assert service_address("https://iam.example/jwks?set=1") == "https://iam.example/jwks?set=1"
