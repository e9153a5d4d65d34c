"""The engine that runs the default embedder is one that reports to its maker: here it says nothing, and keeps nothing."""

import os
import subprocess
import sys
from pathlib import Path

_EMBEDS = """
import asyncio
from runtime_svc.engine.embedder import MiniLM

async def embed():
    model = await MiniLM.open()
    await model.embed(["likes tea"])
    await model.close()

asyncio.run(embed())
"""


def test_embedding_leaves_nothing_beside_what_is_kept_and_has_nothing_to_send(tmp_path: Path) -> None:
    places = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME"), str(tmp_path))
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ORT_")}
    subprocess.run([sys.executable, "-c", _EMBEDS], env={**environment, **places}, check=True)

    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []
