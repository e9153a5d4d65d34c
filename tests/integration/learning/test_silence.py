"""Nothing leaves the machine but to the configured providers, and nothing is written but to the store."""

from __future__ import annotations

import asyncio
import json
import os
import sys

import pytest

from tests.openai_server import OpenAIServer, memory

CODE = """
import asyncio, json, os, sys

seen = []
WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

def hook(event, args):
    if event == "socket.connect":
        seen.append([event, str(args[1])])
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "sqlite3.connect", "subprocess.Popen", "os.system",
                   "os.posix_spawn", "os.exec", "os.fork", "urllib.Request"):
        seen.append([event, str(args[0])])
    elif event in ("os.mkdir", "os.rename", "os.link", "os.symlink", "os.truncate"):
        seen.append([event, str(args[0])])
    elif event == "open":
        path, mode, flags = args
        if isinstance(flags, int) and flags & WRITE and not (mode is None and flags & os.O_DIRECTORY):
            seen.append([event, str(path)])

sys.dont_write_bytecode = True
sys.addaudithook(hook)
from runtime_svc.engine.config import Provider, read_config
from runtime_svc.engine.extraction import Mem0Extractor
from runtime_svc.engine.provider_embedder import ProviderEmbedder
from runtime_svc.ports import Message
from shared.db.collection import Collection
from shared.db.pool import Database
from shared.payloads import Details
from shared.records import By, Door
from shared.scope import Scope
from shared.stores.pg.store import PostgresStore

async def main():
    text = os.environ["AGENT_RUNTIMES_MEM0_CONFIG_JSON"]
    config = read_config(text, openrouter=False)
    assert "mem0" not in sys.modules, "mem0 is imported where it is needed only"
    database = Database(os.environ["DSN"])
    await database.open()
    store = PostgresStore(database, Collection("agent_memories"))
    embedder = await ProviderEmbedder.open(config.embedder)
    extractor = await Mem0Extractor.open(config, store, embedder)
    ana = Scope("ana", "app:one")
    for _ in range(3):
        said = [Message("user", "I like tea"), Message("assistant", "Noted: Alice in Berlin, at Google.")]
        extracted = await extractor.extract(ana, said, details=Details())
        await store.commit(ana, extracted.changes, By("ana", Door.APPS))
    [vector] = await embedder.embed(["tea"])
    found = await store.candidates(ana, vector=vector, lexemes=["tea"])
    await extractor.close()
    await embedder.close()
    await database.close()
    return len(found.found)

found = asyncio.run(main())
print(json.dumps({"found": found, "seen": seen, "spacy": "spacy" in sys.modules}))
"""


@pytest.mark.field("S16")
async def test_learning_and_searching_connect_to_the_providers_only_and_write_nowhere(
    opened, database: str, server: OpenAIServer, tmp_path
) -> None:
    server.answer = memory("Likes tea", "Alice met Bob in Berlin at Google")
    home = tmp_path / "home"
    home.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(tmp_path),
        "DSN": database,
        "AGENT_RUNTIMES_MEM0_CONFIG_JSON": json.dumps({"llm": server.llm(), "embedder": server.embedder()}),
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        CODE,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()[-3000:]
    told = json.loads(out)

    assert [one for one in told["seen"] if not _expected(*one, server, str(tmp_path))] == []
    assert told["found"] == 2
    assert not told["spacy"]
    assert err == b""
    assert list(home.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def _expected(event: str, what: str, server: OpenAIServer, temporary: str) -> bool:
    port = server.url.split(":")[2].split("/")[0]
    match event:
        case "socket.connect":
            return f"('127.0.0.1', {port})" in what or ".s.PGSQL." in what
        case "socket.getaddrinfo":
            return what in ("127.0.0.1", "b'127.0.0.1'")
        case "subprocess.Popen":
            return what == "uname"  # the openai client names the platform in a header to the configured provider
        case "open" | "os.mkdir" | "os.rename":
            # mem0's own directory, gone by now, and Python's try whether a temporary file can be made.
            return what.startswith(temporary + "/") or what in ("/dev/null", "None")
        case _:
            return False
