"""The `runtime-memory` command, also where only one service or only the files are installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jwt
import pytest
from click.testing import CliRunner

from shared.cli import main

SECRET = "s" * 40
_WITHOUT = """
import runpy, sys
for name in ("mem0", "faiss", "onnxruntime", "tokenizers", "openai"):
    sys.modules[name] = None
sys.argv = ["runtime-memory", *sys.argv[1:]]
runpy.run_module("shared", run_name="__main__")
"""


def test_a_token_is_signed_with_the_secret_of_the_services_also_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMORY_JWT_SECRET", raising=False)
    monkeypatch.delenv("MEMORY_JWT_SECRET_FILE", raising=False)
    refused = CliRunner().invoke(main, ["token", "--uid", "ana"])
    assert (refused.exit_code, "MEMORY_JWT_SECRET is missing" in refused.output) == (1, True)
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    monkeypatch.setenv("MEMORY_JWT_SECRET_FILE", str(tmp_path / "secret"))

    made = CliRunner().invoke(main, ["token", "--uid", "ana"])
    assert made.exit_code == 0, made.output
    assert jwt.decode(made.output.strip(), SECRET, algorithms=["HS256"])["uid"] == "ana"
    monkeypatch.setenv("MEMORY_JWT_SECRET", "short")
    refused = CliRunner().invoke(main, ["token", "--uid", "ana"])
    assert (refused.exit_code, "fewer than 32 bytes" in refused.output) == (1, True)


def test_where_the_runtimes_parts_are_not_installed_the_rest_is_offered() -> None:
    told = subprocess.run([sys.executable, "-c", _WITHOUT, "--help"], capture_output=True, text=True, check=False)

    assert told.returncode == 0, told.stderr
    assert "adopt" in told.stdout
    assert "re-embed" not in told.stdout


def test_re_embed_is_reached_where_only_the_files_are() -> None:
    command = [sys.executable, "-m", "runtime_svc.reembedding", "--help"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)

    assert told.returncode == 0, told.stderr
    assert "Make vectors again" in told.stdout
