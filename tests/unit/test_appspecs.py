"""An application remembers when its own Appspec says so, and only then."""

from __future__ import annotations

import pytest

from runtime_svc.appspecs import Appspec, Appspecs, appspec, read_directory
from shared.errors import BadValue


@pytest.mark.parametrize("memory", ["mem0", "mem0:0.0.1", " mem0 "])
def test_an_application_that_names_mem0_remembers(memory):
    specs = Appspecs([appspec({"id": "desk", "memory": memory})])

    assert specs.why_not("app:desk") is None
    assert specs.setup_notes("app:desk") == []


@pytest.mark.parametrize("memory", ["memu", "simplemem:0.0.1", "ephemeral", "mem0x", "MEM0", "mem0:latest"])
def test_another_memory_is_not_enabled_and_the_notes_say_which(memory):
    [note] = Appspecs([appspec({"id": "desk", "memory": memory})]).setup_notes("app:desk")

    assert "is not enabled" in note
    assert f"'{memory.removesuffix(':0.0.1')}'" in note


@pytest.mark.parametrize("document", [{"id": "desk"}, {"id": "desk", "memory": None}, {"id": "desk", "memory": ""}])
def test_an_application_without_memory_remembers_nothing_between_conversations(document):
    why = Appspecs([appspec(document)]).why_not("app:desk")

    assert why == "This application remembers nothing between conversations: its Appspec names no memory."


def test_the_memory_of_its_agent_does_not_count():
    assert appspec({"id": "desk", "agent": {"memory": "mem0"}}) == Appspec("app:desk", "")


def test_an_application_with_a_uid_is_known_by_it_and_one_from_its_file_by_its_id():
    assert appspec({"id": "desk", "uid": "01ABC", "memory": "mem0"}).key == "app:01ABC"
    assert appspec({"id": "desk", "uid": None}).key == "app:desk"
    assert appspec({"id": "desk", "uid": ""}).key == "app:desk"


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        "desk",
        {},
        {"id": 5},
        {"id": "a b"},
        {"id": "*"},
        {"id": "app:desk"},
        {"id": "a", "uid": 5},
        {"id": "a", "memory": 5},
        {"id": "a", "memory": "m" * 101},
    ],
)
def test_what_names_no_application_is_no_appspec(document):
    with pytest.raises(BadValue):
        appspec(document)


def test_without_a_directory_every_application_remembers():
    assert Appspecs(None).why_not("app:anything") is None


def test_with_a_directory_an_unknown_application_does_not():
    assert "no Appspec" in Appspecs([]).why_not("app:desk")


def test_yaml_and_json_are_read_and_a_broken_file_takes_nobody_with_it(tmp_path):
    (tmp_path / "a.yaml").write_text("id: a\nmemory: mem0\n")
    (tmp_path / "b.yml").write_text("id: b\nuid: B1\nmemory: memu\n")
    (tmp_path / "c.json").write_text('{"id": "c", "memory": "mem0:0.0.1"}')
    (tmp_path / "twice.yaml").write_text("id: a\nmemory: memu\n")
    (tmp_path / "broken.yaml").write_text("id: [")
    (tmp_path / "broken.json").write_bytes(b"\xff")
    (tmp_path / "code.yaml").write_text("!!python/object/apply:os.abort []")
    (tmp_path / "large.json").write_text(" " * 300_000)
    (tmp_path / "notes.txt").write_text("id: notes\nmemory: mem0\n")
    (tmp_path / "folder.yaml").mkdir()

    specs = read_directory(tmp_path)

    assert specs.why_not("app:a") is None
    assert specs.why_not("app:c") is None
    assert "'memu'" in specs.why_not("app:B1")
    assert specs.why_not("app:notes") is not None
    with pytest.raises(NotADirectoryError):
        read_directory(tmp_path / "none")
