"""One process owns the directory, and what is torn, foreign or gone is refused in a sentence, never opened empty."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from shared.errors import CannotStartError
from shared.stores.local.directory import DATABASE
from shared.stores.local.store import LocalStore
from tests.conformance.build import ANA, DIMENSIONS, keep, keep_many, memory


async def filled(directory: Path, count: int = 50) -> list[str]:
    store = await LocalStore.open(directory, dimensions=DIMENSIONS)
    ids = await keep_many(store, ANA, count)
    await store.close()
    return ids


async def refusal(directory: Path, *, dimensions: int = DIMENSIONS) -> str:
    before = {path.name: path.stat().st_size for path in directory.iterdir()}
    with pytest.raises(CannotStartError) as refused:
        await LocalStore.open(directory, dimensions=dimensions)
    assert {name: size for name, size in before.items() if name in {DATABASE, "store.json"}}.items() <= {
        path.name: path.stat().st_size for path in directory.iterdir()
    }.items()
    return str(refused.value)


async def test_what_was_kept_is_there_after_a_restart(tmp_path: Path) -> None:
    ids = await filled(tmp_path / "new" / "deep")
    store = await LocalStore.open(tmp_path / "new" / "deep", dimensions=DIMENSIONS)

    assert [m.id for m in (await store.page(ANA, limit=100)).memories] == ids[::-1]
    await store.close()


async def test_only_the_owner_reads_the_files(tmp_path: Path) -> None:
    directory = tmp_path / "store"
    store = await LocalStore.open(directory, dimensions=DIMENSIONS)
    await keep(store, ANA, memory("likes tea"))
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()}
    await store.close()

    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert set(modes.values()) == {0o600}
    assert {DATABASE, f"{DATABASE}-wal", "store.json", "owner.lock"} <= modes.keys()


async def test_a_second_owner_is_refused_also_when_the_lock_file_was_tidied_away(tmp_path: Path) -> None:
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    (tmp_path / "owner.lock").unlink()
    said = await refusal(tmp_path)
    await store.close()

    assert said == f"{tmp_path} is in use by another process: one process owns it."
    again = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    await again.close()


@pytest.mark.fault("Two runtimes on one local directory", "the second is refused with the first one's process")
async def test_a_second_owner_is_refused_with_the_first_ones_process(tmp_path: Path) -> None:
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    script = (
        "import asyncio, sys; from pathlib import Path; from shared.stores.local.store import LocalStore\n"
        f"asyncio.run(LocalStore.open(Path(sys.argv[1]), dimensions={DIMENSIONS}))"
    )
    second = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False)

    assert second.returncode != 0
    assert f"is in use by process {os.getpid()}" in second.stderr
    await keep(store, ANA, memory("still works"))
    await store.close()
    third = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    assert await third.count(ANA) == 1
    await third.close()


async def test_a_second_store_in_the_same_process_is_refused_too(tmp_path: Path) -> None:
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)

    assert "in use" in await refusal(tmp_path)
    await store.close()


@pytest.mark.parametrize("keep_bytes", [0, 50, 4096, 40_000, -4096, -1])
@pytest.mark.field("B59")
async def test_a_database_cut_short_is_refused(tmp_path: Path, keep_bytes: int) -> None:
    await filled(tmp_path)
    content = (tmp_path / DATABASE).read_bytes()
    (tmp_path / DATABASE).write_bytes(content[:keep_bytes])

    assert "copy" in await refusal(tmp_path)


async def test_a_database_that_vanished_is_refused(tmp_path: Path) -> None:
    await filled(tmp_path)
    (tmp_path / DATABASE).unlink()

    assert "restore" in await refusal(tmp_path)
    assert not (tmp_path / DATABASE).exists()


@pytest.mark.parametrize("damage", [b"\0" * 4096, b"x" * 4096, os.urandom(4096)])
@pytest.mark.parametrize("page", [0, 3, 20, 40])
async def test_a_damaged_page_is_refused(tmp_path: Path, page: int, damage: bytes) -> None:
    await filled(tmp_path)
    with (tmp_path / DATABASE).open("r+b") as file:
        file.seek(page * 4096)
        file.write(damage)

    assert await refusal(tmp_path)


async def test_text_where_the_database_should_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / DATABASE).write_text("hello " * 1000)

    assert "no SQLite database" in await refusal(tmp_path)


async def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / DATABASE) as other:
        other.execute("CREATE TABLE theirs (a)")
    other.close()

    assert "another program" in await refusal(tmp_path)
    with sqlite3.connect(tmp_path / DATABASE) as other:
        assert other.execute("SELECT name FROM sqlite_schema").fetchall() == [("theirs",)]
    other.close()


async def test_a_newer_versions_database_is_refused(tmp_path: Path) -> None:
    await filled(tmp_path)
    with sqlite3.connect(tmp_path / DATABASE) as other:
        other.execute("PRAGMA user_version = 999")
    other.close()

    assert "newer" in await refusal(tmp_path)


async def test_files_of_two_stores_are_not_mixed(tmp_path: Path) -> None:
    await filled(tmp_path / "one")
    await filled(tmp_path / "two")
    shutil.copy(tmp_path / "one" / DATABASE, tmp_path / "two" / DATABASE)

    assert "different stores" in await refusal(tmp_path / "two")


@pytest.mark.parametrize("marker", ["", "{", "[]", "null", '{"id": 1}', '{"format": 2, "id": "a", "dimensions": 8}'])
async def test_a_damaged_marker_is_refused(tmp_path: Path, marker: str) -> None:
    await filled(tmp_path)
    (tmp_path / "store.json").write_text(marker)

    assert await refusal(tmp_path)


async def test_a_lost_marker_is_written_again(tmp_path: Path) -> None:
    ids = await filled(tmp_path)
    marker = json.loads((tmp_path / "store.json").read_text())
    (tmp_path / "store.json").unlink()
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)

    assert await store.count(ANA) == len(ids)
    assert json.loads((tmp_path / "store.json").read_text()) == marker
    await store.close()


async def test_a_journal_without_its_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / f"{DATABASE}-wal").write_bytes(b"x" * 100)

    assert "journal" in await refusal(tmp_path)


async def test_another_embedders_store_is_refused_naming_both(tmp_path: Path) -> None:
    await filled(tmp_path)
    sentence = await refusal(tmp_path, dimensions=384)

    assert "8" in sentence
    assert "384" in sentence


async def test_a_whole_copy_is_opened(tmp_path: Path) -> None:
    ids = await filled(tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    store = await LocalStore.open(tmp_path / "two", dimensions=DIMENSIONS)

    assert await store.count(ANA) == len(ids)
    await store.close()


async def test_a_file_in_the_directorys_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    with pytest.raises(CannotStartError):
        await LocalStore.open(tmp_path / "store", dimensions=DIMENSIONS)


async def test_a_start_that_was_killed_before_its_tables_is_a_new_store(tmp_path: Path) -> None:
    (tmp_path / DATABASE).touch()
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    await keep(store, ANA, memory("likes tea"), memory("likes rain"))

    assert await store.count(ANA) == 2
    await store.close()
