"""`.env.example` tells of every setting, of none that is not there, and of each default as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runtime_svc.settings import RuntimeSettings
from runtimes_svc.settings import PlatformSettings

EXAMPLE = (Path(__file__).parents[2] / ".env.example").read_text("utf-8")
LINES = dict(re.findall(r"^#?([A-Z][A-Z0-9_]+)=(.*)$", EXAMPLE, flags=re.MULTILINE))
ACTIVE = dict(re.findall(r"^([A-Z][A-Z0-9_]+)=(.*)$", EXAMPLE, flags=re.MULTILINE))
FIELDS = {
    str(field.validation_alias): (settings, name)
    for settings in (RuntimeSettings, PlatformSettings)
    for name, field in settings.model_fields.items()
}


def test_every_setting_is_told_and_no_other():
    assert set(LINES) == set(FIELDS)


@pytest.mark.parametrize("settings", [RuntimeSettings, PlatformSettings])
def test_the_example_can_be_used_as_it_stands(settings, monkeypatch):
    for name in FIELDS:
        monkeypatch.delenv(name, raising=False)
    for name, value in ACTIVE.items():
        monkeypatch.setenv(name, value)

    assert settings.read()


@pytest.mark.parametrize("name", [name for name, value in LINES.items() if value and name not in ACTIVE])
def test_an_optional_line_gives_the_default(name, monkeypatch):
    settings, field = FIELDS[name]
    for other in FIELDS:
        monkeypatch.delenv(other, raising=False)
    default = getattr(settings.read(), field)
    monkeypatch.setenv(name, LINES[name])
    given = getattr(settings.read(), field)

    assert default in (given, None)
