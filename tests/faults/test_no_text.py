"""A marker in every memory, token and key, through success and faults: it stands in no log, number or refusal."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from tests.faults.fleet import SERVICES, Fleet
from tests.openai_server import OpenAIServer, memory, openai_server
from tests.services import MACHINE, SECRET, bearer, token

MARK = "zanzibar"
APP = "/api/v1/apps/memories/desk"
PLATFORM = "/api/runtimes/v1/memories"
GATEWAY = "/api/v1/llm/gateway"
HOSTILE = [
    b'{"memory": "zanzibar',
    b'{"memory": "zanzibar\\u0000"}',
    b'{"memory": "zanzibar\\ud800"}',
    b'{"memory": "zanzibar\xff"}',
    b'{"memory": {"zanzibar": 1}}',
    b'{"memory": "zanzibar", "metadata": "zanzibar"}',
    b'{"memory": "zanzibar", "expiration_date": "zanzibar"}',
    b'{"memory": "zanzibar", "messages": [{"role": "zanzibar"}]}',
    b'["zanzibar"]',
]


class Marked:
    """Everything that is said to the services, and every refusal of theirs."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.refusals: list[str] = []
        self.secrets = {SECRET, MACHINE}

    async def ask(self, name: str, method: str, path: str, **more: Any) -> Any:
        headers = {**bearer("ana"), **more.pop("headers", {})}
        self.secrets.add(headers["Authorization"].split()[-1].rpartition(".")[2] or MARK)
        assert self.fleet.session is not None
        url = f"http://127.0.0.1:{self.fleet.ports[name]}{path}"
        async with self.fleet.session.request(method, url, headers=headers, **more) as response:
            text = await response.text()
            if response.status >= 400:
                self.refusals.append(text)
            return json.loads(text) if response.content_type == "application/json" else text

    async def done(self, *asked: Any, **more: Any) -> Any:
        """The same until it succeeds: services that wait a second only may refuse while the machine is busy."""
        while True:
            refused = len(self.refusals)
            said = await self.ask(*asked, **more)
            if len(self.refusals) == refused:
                return said

    async def succeed(self, server: OpenAIServer) -> None:
        """Learn, recall, correct and forget at several doors."""
        server.answer = memory(f"Likes {MARK} tea")
        learned = await self.done("runtime_svc", "POST", APP, json={"memory": f"{MARK} one", "wait": True})
        said = {"messages": [{"role": "user", "content": f"I like {MARK} tea"}], "wait": True}
        await self.ask("runtime_svc", "POST", APP, json=said)
        await self.ask("runtime_svc", "POST", f"{APP}/recall", json={"query": MARK})
        await self.ask("runtime_svc", "POST", f"{GATEWAY}/search-memories", json={"query": MARK, "app_id": "desk"})
        one = learned["results"][0]["id"]
        await self.ask("runtimes_svc", "PATCH", f"{PLATFORM}/{one}", json={"memory": f"{MARK} two"})
        key = await self.done("runtime_svc", "POST", "/api/v1/apps/api-keys", json={"all_applications": True, "name": MARK})  # fmt: skip
        self.secrets.add(key["key"][-43:])  # what is drawn of it; it may have a _ in it
        await self.ask("runtime_svc", "GET", "/v1/memories/?app_id=desk", headers={"Authorization": f"Token {key['key']}"})  # fmt: skip
        await self.ask("runtimes_svc", "DELETE", f"{PLATFORM}/{one}")

    async def be_refused(self) -> None:
        """Bodies, ids, filters and credentials that do not hold."""
        as_json = {"Content-Type": "application/json"}
        for raw in [*HOSTILE, b'{"memory": "' + b"zanzibar" * 200_000 + b'"}']:
            for path in (APP, f"{APP}/search", "/v1/memories/", f"{GATEWAY}/update-memory", "/mcp/desk"):
                await self.ask("runtime_svc", "POST", path, data=io.BytesIO(raw), headers=as_json)
        for path in (
            f"{APP}/{MARK}",
            f"{APP}?limit={MARK}",
            f"{APP}?cursor={MARK}",
            f"/{MARK}",
            f"/v1/memories/{MARK}/",
        ):
            await self.ask("runtime_svc", "GET", path)
        await self.be_unreadable()
        said = {"query": MARK, "filters": {"AND": [{MARK: {MARK: MARK}}], "user_id": MARK}}
        await self.ask("runtime_svc", "POST", "/v2/memories/search/", json=said)
        bad = [f"Bearer {MARK}", f"Bearer {MARK}.{MARK}.{MARK}", f"Token m0-{MARK}", f"Basic {MARK}", f"Bearer {token(MARK, ttl=-5)}", f"Bearer {token('*' + MARK + ' ')}"]  # fmt: skip
        for name, path in (("runtime_svc", APP), ("runtimes_svc", PLATFORM)):
            for credential in bad:
                await self.ask(name, "GET", path, headers={"Authorization": credential})
            await self.ask(name, "GET", path, headers={"X-On-Behalf-Of": MARK})

    async def be_unreadable(self) -> None:
        """What is no request at all: a question that is too long for an address, headers with what cannot be in them."""
        for name in SERVICES:
            for said in (f"GET {PLATFORM}?q={MARK * 1500} HTTP/1.1\r\nHost: x", f"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {MARK}\x01", f"{MARK} / HTTP/9.1"):  # fmt: skip
                reader, writer = await asyncio.open_connection("127.0.0.1", self.fleet.ports[name])
                writer.write(said.encode() + b"\r\n\r\n")
                assert b" 400 " in await reader.readline()
                writer.close()

    async def meet_faults(self, server: OpenAIServer, dsn: str) -> None:
        """An LLM that fails, a table that is locked, connections that end, writes that PostgreSQL refuses."""
        said = {"messages": [{"role": "user", "content": f"{MARK} said"}], "wait": True}
        for server.status, server.answer in ((200, f"prose about {MARK}"), (400, MARK), (200, '{"memory": [{"zanzibar": 1}]}')):  # fmt: skip
            await self.ask("runtime_svc", "POST", APP, json=said)
        server.status = 200
        admin = await asyncpg.connect(dsn)
        async with admin.transaction():
            await admin.execute("LOCK TABLE public.agent_memories IN ACCESS EXCLUSIVE MODE")
            await self._all_doors()
        # A row that PostgreSQL refuses makes it log the statement, and a DETAIL with the row, unless it is told not to.
        refused = "ALTER TABLE public.agent_memories ADD CONSTRAINT none CHECK (payload->>'data' NOT LIKE '%zanzibar%') NOT VALID"  # fmt: skip
        await admin.execute(refused)
        await self._all_doors()
        await admin.execute("ALTER TABLE public.agent_memories DROP CONSTRAINT none")
        ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = current_user"  # fmt: skip
        await admin.execute(ended)
        await admin.close()
        await self._all_doors()

    async def _all_doors(self) -> None:
        async with asyncio.TaskGroup() as group:
            for name, method, path, body in (
                ("runtime_svc", "POST", APP, {"memory": f"{MARK} three", "wait": True}),
                ("runtime_svc", "POST", f"{APP}/search", {"query": MARK}),
                ("runtimes_svc", "GET", PLATFORM, {}),
                ("runtime_svc", "POST", "/v1/memories/", {"messages": MARK, "app_id": "desk", "infer": False}),
            ):
                group.create_task(self.ask(name, method, path, json=body))


@pytest.fixture
def place() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="rm-text-"))
    yield directory
    shutil.rmtree(directory)


@pytest.mark.fault("Anything of the above, with a marker in every memory, token and key", "the marker stands in no log (PostgreSQL's too), no number and no refusal")  # fmt: skip
@pytest.mark.timeout(400)
async def test_no_memory_token_or_key_stands_in_a_log_a_number_or_a_refusal(place: Path) -> None:
    async with openai_server() as server:
        config = {"llm": server.llm()}
        settings = {"AGENT_RUNTIMES_MEM0_CONFIG_JSON": json.dumps(config), "MEMORY_STATEMENT_TIMEOUT": "1"}
        async with Fleet(place, place / "logs", settings) as fleet:
            marked = Marked(fleet)
            await marked.succeed(server)
            await marked.be_refused()
            await marked.meet_faults(server, dsn_in(place / "pg"))
            numbers = [await marked.ask(name, "GET", "/metrics") for name in SERVICES]
            await fleet.kill("postgres")
            await marked._all_doors()
            await fleet.mend("postgres")

    logs = {path.name: path.read_text(errors="replace") for path in place.rglob("*.log")}
    assert {"runtime_svc.log", "runtimes_svc.log", "postgres.log"} <= set(logs)
    assert all(len(text) > 100 for text in logs.values())
    assert len(marked.refusals) > 60
    hidden = {MARK, *marked.secrets}
    for where, text in [*logs.items(), *(("metrics", one) for one in numbers), *(("refusal", one) for one in marked.refusals)]:  # fmt: skip
        for secret in hidden:
            at = text.lower().find(secret.lower())
            assert at < 0, (where, text[max(0, at - 300) : at + 100])


def dsn_in(directory: Path) -> str:
    """Where the embedded server of a directory answers."""
    [socket] = [path.parent for path in directory.rglob(".s.PGSQL.5432")]
    return f"postgresql://runtime_memory@/runtime_memory?host={socket}&port=5432"
