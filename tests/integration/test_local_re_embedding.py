"""`runtime-memory re-embed` on the local store: nothing is lost when it is broken off, and it goes on when called again."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from runtime_svc.engine.embedder import MiniLM
from shared.errors import CannotStartError
from shared.records import Patch
from shared.stores.local import rows, widening
from shared.stores.local.directory import DATABASE
from shared.stores.local.maintenance import LocalMaintenance
from shared.stores.local.store import LocalStore
from tests.conformance.build import ANA, BEN, BY, DIMENSIONS, keep, keep_many, memory, words_of
from tests.services import environment

WIDE = 384


def command(directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **environment(AGENT_RUNTIMES_MEM0_DIR=str(directory), AGENT_RUNTIMES_MEM0_BACKEND="faiss")}
    return subprocess.run(
        [sys.executable, "-m", "shared", "re-embed", *words],
        capture_output=True,
        text=True,
        env=env,
        check=False,
        timeout=120,
    )


async def filled(directory: Path) -> None:
    """Seventy memories of two people, with vectors of eight numbers; one of them corrected without an embedder."""
    store = await LocalStore.open(directory, dimensions=DIMENSIONS)
    await keep_many(store, ANA, 68, words="The ferry leaves at")
    await keep(store, BEN, memory("Ben keeps bees"))
    [corrected] = await keep(store, ANA, memory("Cooks on Fridays"))
    await store.correct(ANA, corrected, Patch(words="Bakes bread on Fridays"), BY)
    await store.close()


def widths(directory: Path) -> dict[tuple[int, bool], int]:
    """How many memories there are of each: bytes of the vector, and whether it waits for another."""
    with sqlite3.connect(directory / DATABASE) as connection:
        found = connection.execute(
            "SELECT length(vector), payload ->> 'vector_of' IS NOT NULL, count(*) FROM memories GROUP BY 1, 2"
        ).fetchall()
    connection.close()
    return {(width, bool(waits)): count for width, waits, count in found}


async def test_re_embed_makes_every_vector_again_and_can_be_called_again(tmp_path: Path) -> None:
    await filled(tmp_path)
    with pytest.raises(CannotStartError, match=r"8 dimensions.*384.*re-embed"):
        await LocalStore.open(tmp_path, dimensions=WIDE)

    for words, count in (((), 70), ((), 0), (("--all",), 70)):
        done = await asyncio.to_thread(command, tmp_path, *words)
        assert done.returncode == 0, done.stderr
        assert f"{count} memories\nDone." in done.stdout
        assert widths(tmp_path) == {(4 * WIDE, False): 70}

    store, model = await LocalStore.open(tmp_path, dimensions=WIDE), await MiniLM.open()
    [vector] = await model.embed(["baking a loaf"])
    found = await store.candidates(ANA, vector=vector, lexemes=[])
    assert max(found.found, key=lambda one: one.cosine or 0).memory.words == "Bakes bread on Fridays"
    assert words_of((await store.page(BEN, limit=9)).memories) == ["Ben keeps bees"]
    await model.close()
    await store.close()


async def test_broken_off_anywhere_nothing_is_lost_and_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(tmp_path)
    monkeypatch.setattr(widening, "_BATCH", 7)
    replaced, left = rows.replace, 20

    def failing(*args: object) -> None:
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt
        left -= 1
        replaced(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(rows, "replace", failing)
    with pytest.raises(KeyboardInterrupt):
        await widening.widen(tmp_path, WIDE, everything=False)
    monkeypatch.setattr(rows, "replace", replaced)

    # As long as the new width is not noted, the old embedder goes on; what was emptied waits for it.
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    assert (await store.page(ANA, limit=100)).total == 69
    stale = await LocalMaintenance(store.database, dimensions=DIMENSIONS).stale(after="", limit=100)
    assert len([one for one in stale if one.meaning]) == 14 + 1
    found = await store.candidates(ANA, vector=np.ones(DIMENSIONS, dtype=np.float32), lexemes=["ferri"])
    assert found.found
    await store.close()

    await widening.widen(tmp_path, WIDE, everything=False)
    assert widths(tmp_path) == {(0, True): 70}
    await (await LocalStore.open(tmp_path, dimensions=WIDE)).close()


async def test_broken_off_between_the_database_and_its_marker_it_is_called_again(tmp_path: Path) -> None:
    await filled(tmp_path)
    marker = (tmp_path / "store.json").read_text()
    await widening.widen(tmp_path, WIDE, everything=False)
    (tmp_path / "store.json").write_text(marker)

    for dimensions in (DIMENSIONS, WIDE):
        with pytest.raises(CannotStartError, match="re-embed"):
            await LocalStore.open(tmp_path, dimensions=dimensions)
    await widening.widen(tmp_path, WIDE, everything=False)
    await (await LocalStore.open(tmp_path, dimensions=WIDE)).close()


async def test_a_directory_in_use_or_without_a_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    await filled(tmp_path / "used")
    store = await LocalStore.open(tmp_path / "used", dimensions=DIMENSIONS)
    refused = await asyncio.to_thread(command, tmp_path / "used")
    await store.close()
    assert (refused.returncode, "in use by process" in refused.stderr) == (1, True)
    assert widths(tmp_path / "used") == {(4 * DIMENSIONS, False): 69, (4 * DIMENSIONS, True): 1}

    missing = await asyncio.to_thread(command, tmp_path / "missing")
    assert (missing.returncode, "holds no store" in missing.stderr) == (1, True)
    assert not (tmp_path / "missing").exists()
