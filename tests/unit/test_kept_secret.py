"""A secret that is made once: whole or not at all, and read by its owner only."""

from __future__ import annotations

import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from runtime_svc.keeping import local_secret
from shared.kept_secret import kept_secret


def test_it_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    made = kept_secret(tmp_path / "secret")

    assert kept_secret(tmp_path / "secret") == made
    assert len(made) >= 32
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


@pytest.mark.parametrize("cut", ["", "short", "\n"])
def test_one_that_was_cut_short_is_made_again(tmp_path: Path, cut: str) -> None:
    (tmp_path / "jwt.secret").write_text(cut, encoding="utf-8")
    made = local_secret(tmp_path)

    assert len(made) >= 32
    assert local_secret(tmp_path) == made


def test_a_disk_that_is_full_leaves_nothing_that_could_be_taken_for_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            kept_secret(tmp_path / "secret")

    assert list(tmp_path.iterdir()) == []


def test_all_who_come_first_have_the_same(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        made = set(pool.map(kept_secret, [tmp_path / "secret"] * 16))

    assert len(made) == 1
