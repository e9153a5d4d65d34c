"""`runtime-memory snapshot export|import` against a running platform."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from pathlib import Path

from tests.acceptance.snapshots.life import full_life, seen
from tests.services import Service, token


async def run(platform: Service, *arguments: str, uid: str = "p1") -> tuple[int, str]:
    """The command as a person runs it."""
    url = str(platform.client.make_url("/"))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "from shared.cli import main; main()", "snapshot", *arguments, "--url", url,
        env={**os.environ, "RUNTIME_MEMORY_TOKEN": token(uid)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    said, _ = await process.communicate()
    return process.returncode or 0, said.decode()


async def test_exported_erased_and_taken_in_everything_is_as_it_was(
    runtime: Service, platform: Service, tmp_path: Path
) -> None:
    await full_life(runtime)
    before = await seen(runtime, platform)
    file = tmp_path / "mine" / "memory.json"
    file.parent.mkdir()

    code, said = await run(platform, "export", str(file))
    assert code == 0, said
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [one.name for one in file.parent.iterdir()] == ["memory.json"]
    await platform.delete("/api/memory", params={"snapshots": "true"}, uid="p1")
    code, said = await run(platform, "import", str(file), "--restore")

    assert (code, said.splitlines()[-1]) == (0, "4 memories are restored.")
    assert await seen(runtime, platform) == before


async def test_what_cannot_be_carried_is_told_in_a_sentence(platform: Service, tmp_path: Path) -> None:
    file = tmp_path / "memory.json"
    file.write_bytes(b'{"id": "x"')

    code, said = await run(platform, "import", str(file))
    assert (code, said) == (
        1,
        "Error: The document is cut short, or is not valid JSON. Nothing was taken in.\n",
    )
    code, said = await run(platform, "export", str(tmp_path / "none.json"), "--state", "x")
    assert (code, said) == (1, "Error: There is no snapshot by that id.\n")
    assert not (tmp_path / "none.json").exists()
    code, said = await run(platform, "export", str(tmp_path / "away" / "none.json"))
    assert (code, said) == (1, "Error: The file cannot be used: No such file or directory.\n")
