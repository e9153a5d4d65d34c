"""A disk that is full or cannot be written: a sentence, nothing half-written, and it works again when there is room."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from shared.errors import Unavailable
from shared.stores.local.directory import DATABASE
from shared.stores.local.store import LocalStore
from tests.conformance.build import ANA, BY, DIMENSIONS, keep, keep_many, memory


def run(what: str, directory: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.local_disk", what, str(directory)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.fault("The disk of the local store is full", "503 that says so; nothing is half written; it works again when there is room")  # fmt: skip
@pytest.mark.field("S9")
def test_a_full_disk_is_said_and_nothing_is_half_written(tmp_path: Path) -> None:
    run("full", tmp_path)


@pytest.mark.fault("The directory of the local store is read-only", "the start is refused in a sentence that names it")
@pytest.mark.field("S9")
@pytest.mark.parametrize("new", [True, False])
async def test_a_directory_that_cannot_be_written_is_refused(new: bool) -> None:  # noqa: FBT001 (a parameter)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        if not new:
            store = await LocalStore.open(directory, dimensions=DIMENSIONS)
            await keep(store, ANA, memory("likes tea"))
            await store.close()
        for path in directory.iterdir():
            path.chmod(0o444)
        directory.chmod(0o555)
        run("readonly", directory)
        directory.chmod(0o755)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a directory of another user")
def test_a_directory_of_another_user_is_refused() -> None:
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        os.chown(name, 12345, 12345)
        run("foreign", Path(name))


async def test_the_sentence_of_a_full_disk_says_so(tmp_path: Path) -> None:
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    await keep(store, ANA, memory("likes tea"))
    writer = store._database._writer
    assert writer is not None
    pages = writer.execute("PRAGMA page_count").fetchone()[0]
    writer.execute(f"PRAGMA max_page_count = {pages + 3}")
    with pytest.raises(Unavailable, match="The disk is full: nothing was written"):
        await keep_many(store, ANA, 50)
    assert await store.count(ANA) == 1
    assert await store.forget_all(ANA, BY, confirmed=1) == 1
    writer.execute("PRAGMA max_page_count = 1000000")
    await keep_many(store, ANA, 50)

    assert await store.count(ANA) == 50
    await store.close()


@pytest.mark.fault("The file of the local store is damaged while it is served", "503 that says so; nothing wrong is answered")  # fmt: skip
async def test_a_damaged_database_is_said_while_it_is_served(tmp_path: Path) -> None:
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    await keep_many(store, ANA, 200)
    await store.forget_all(ANA, BY, confirmed=None, where=None)
    await keep_many(store, ANA, 200)
    await store.close()
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    with (tmp_path / DATABASE).open("r+b") as file:
        file.seek(4096)
        file.write(b"x" * (tmp_path / DATABASE).stat().st_size)
    with pytest.raises(Unavailable, match=r"damaged|cannot be reached"):
        await store.page(ANA, limit=500)
    await store.close()
