"""The service learns what it accepted: over HTTP, with mem0's extraction and an LLM on loopback."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from aiohttp.test_utils import TestClient, TestServer

from runtime_svc import learning_resource
from runtime_svc.app import create_app as create_runtime
from runtime_svc.keys import LEARNING
from runtime_svc.settings import RuntimeSettings
from runtime_svc.worker import Pace
from tests.openai_server import OpenAIServer, memory
from tests.services import OWNER, Service
from tests.waiting import FOR_EVER, until

PATH = "/api/v1/apps/memories/one"
EVENTS = "/api/v1/apps/memory-events"
SAID = {"messages": [{"role": "user", "content": "I like zanzibar tea and I live in Oslo."}]}


class Place:
    """Where a runtime keeps what it remembers, on one of the two engines; it may be started anew."""

    def __init__(self, dsn: str | None, directory: Path) -> None:
        self.dsn = dsn
        self.directory = directory

    async def start(self) -> Service:
        client = TestClient(TestServer(create_runtime(RuntimeSettings.read(), dsn=self.dsn)))
        await client.start_server()
        return Service(client)

    async def marked(self) -> list[str]:
        """Rows, or files, that hold the marker."""
        if self.dsn is not None:
            return await _marked_rows(self.dsn)
        files = [path for path in self.directory.rglob("*") if path.is_file()]
        return [path.name for path in files if b"zanzibar" in path.read_bytes().lower()]


@pytest.fixture(params=["local", "postgres"])
def place(request: pytest.FixtureRequest, settings_environment: pytest.MonkeyPatch, tmp_path: Path) -> Place:
    """Each engine in turn, with workers that do not wait long before they try again or end."""
    settings_environment.setattr(learning_resource, "Pace", functools.partial(Pace, pause=0.05, grace=0.2))
    if request.param == "postgres":
        return Place(request.getfixturevalue("database"), tmp_path)
    settings_environment.setenv("AGENT_RUNTIMES_MEM0_BACKEND", "faiss")
    settings_environment.setenv("AGENT_RUNTIMES_MEM0_DIR", str(tmp_path / "kept"))
    return Place(None, tmp_path / "kept")


@pytest.fixture
async def learner(
    place: Place, settings_environment: pytest.MonkeyPatch, server: OpenAIServer
) -> AsyncIterator[Service]:
    """The runtime with an LLM."""
    settings_environment.setenv("AGENT_RUNTIMES_MEM0_CONFIG_JSON", json.dumps({"llm": server.llm()}))
    settings_environment.setenv("RUNTIME_LEARN_WAITING", "20")
    service = await place.start()
    yield service
    server.gate.let_go()
    await service.client.close()


@pytest.fixture
async def simple(place: Place) -> AsyncIterator[Service]:
    """The runtime without an LLM."""
    service = await place.start()
    yield service
    await service.client.close()


async def ended(service: Service, event_id: str, *, uid: str = OWNER) -> dict[str, Any]:
    async with asyncio.timeout(FOR_EVER):
        while True:
            status, told = await service.get(f"{EVENTS}/{event_id}", uid=uid)
            assert status == 200, told
            if told["event"]["status"] in ("SUCCEEDED", "FAILED"):
                return told["event"]
            await asyncio.sleep(0.05)


async def at_rest(service: Service) -> None:
    """Return when no learn is under way, whatever its event says."""
    worker = service.client.server.app[LEARNING].ring.__self__
    await until(lambda: not worker._running)


async def listed(service: Service, *, uid: str = OWNER) -> list[str]:
    _, told = await service.get(PATH, uid=uid)
    return [one["memory"] for one in told["memories"]]


async def test_what_is_accepted_is_learned(learner, server):
    server.answer = memory("Likes tea", "Lives in Oslo")

    status, told = await learner.post(PATH, json=SAID)
    event = await ended(learner, told["event_id"])

    assert (status, told["status"]) == (202, "PENDING")
    assert event["status"] == "SUCCEEDED"
    assert event["app"] == "one"
    assert event["error"] is None
    assert [(one["memory"], one["event"]) for one in event["results"]] == [
        ("Likes tea", "ADD"),
        ("Lives in Oslo", "ADD"),
    ]
    assert event["created_at"] <= event["started_at"] <= event["completed_at"]
    assert sorted(await listed(learner)) == ["Likes tea", "Lives in Oslo"]


async def test_who_waits_is_told_the_results(learner, server):
    server.answer = memory("Likes tea")

    status, told = await learner.post(PATH, json={**SAID, "wait": True})

    assert status == 200
    assert [(one["memory"], one["event"]) for one in told["results"]] == [("Likes tea", "ADD")]


async def test_a_memory_is_kept_as_it_is_said_even_with_an_llm(learner, server):
    status, told = await learner.post(PATH, json={"memory": "  Parks  on level 2 ", "wait": True})
    _, accepted = await learner.post(PATH, json={"memory": "Reads in French"})
    await ended(learner, accepted["event_id"])

    assert status == 200
    assert told["results"][0]["memory"] == "Parks on level 2"
    assert await listed(learner) == ["Reads in French", "Parks on level 2"]
    assert server.requests == []


@pytest.mark.field("B95")
async def test_messages_that_are_not_to_be_inferred_are_kept_as_they_are(learner, server):
    body = {
        "messages": [
            {"role": "user", "content": "I sort by hand", "name": "ana"},
            {"role": "assistant", "content": "I solved it recursively"},
            {"role": "system", "content": "Be kind"},
        ],
        "infer": False,
        "metadata": {"k": "v", "user_id": "bob", "hash": "x"},
        "run_id": "r1",
        "expiration_date": "2099-01-01",
        "timestamp": "2020-02-03T04:05:06+01:00",
    }

    _, told = await learner.post(PATH, json=body)
    event = await ended(learner, told["event_id"])

    _, shown = await learner.get(f"{PATH}/{event['results'][0]['id']}")
    assert [one["memory"] for one in event["results"]] == ["I sort by hand", "I solved it recursively"]
    assert shown["memory"]["metadata"] == {"k": "v"}
    assert shown["memory"]["run_id"] == "r1"
    assert shown["memory"]["expiration_date"] == "2099-01-01"
    assert shown["memory"]["created_at"] == "2020-02-03T03:05:06.000000+00:00"
    assert server.requests == []


async def test_without_an_llm_the_users_own_words_are_kept_in_their_order(simple):
    messages = [
        {"role": "user", "content": "First"},
        {"role": "assistant", "content": "Not this"},
        {"role": "user", "content": "Second"},
    ]

    _, told = await simple.post(PATH, json={"messages": messages})
    await ended(simple, told["event_id"])

    assert await listed(simple) == ["Second", "First"]


@pytest.mark.field("B91")
@pytest.mark.field("B85")
@pytest.mark.parametrize(
    "body",
    [
        {"messages": []},
        {"messages": [{"role": "user", "content": ""}]},
        {"messages": [{"role": "user", "content": " \u200b "}]},
        {"messages": [{"role": "user", "content": None}]},
        {"messages": [{"role": "system", "content": "Be kind"}]},
        {"messages": [{"role": "user", "content": ["x"]}]},
        {"messages": "hello"},
        {"memory": ""},
        {"memory": "\u200b"},
        {"memory": 5},
        {"memory": "x" * 8001},
        {"memory": "a\u0000b"},
        {"messages": [{"role": "user", "content": "a\u0000b"}]},
        {},
        {"memory": "x", "messages": []},
        {"memory": "x", "timestamp": "yesterday"},
        {"memory": "x", "timestamp": 5},
        {"memory": "x", "expiration_date": "soon"},
        {"memory": "x", "metadata": []},
        {"memory": "x", "run_id": ""},
        {"memory": "x", "wait": "yes"},
    ],
)
async def test_nothing_to_learn_is_refused_before_it_is_accepted(learner, server, body):
    status, told = await learner.post(PATH, json=body)

    assert status == 422
    assert isinstance(told["detail"], str)
    assert server.requests == []
    assert (await learner.get(EVENTS))[1]["events"] == []


@pytest.mark.fault("The LLM answers nonsense", "the event is FAILED with a sentence; nothing is learned")
@pytest.mark.field("B89")
@pytest.mark.parametrize("answer", ["prose", '{"memory": null}', '{"memory": [{"text": "Likes'])
async def test_an_answer_that_cannot_be_read_ends_the_event_with_a_sentence(learner, server, answer):
    server.answer = answer

    _, told = await learner.post(PATH, json=SAID)
    event = await ended(learner, told["event_id"])
    status, failed = await learner.post(PATH, json={**SAID, "wait": True})

    assert event["status"] == "FAILED"
    assert event["results"] == []
    assert event["error"].startswith("The LLM's answer cannot be read")
    assert (status, failed["code"]) == (502, "learn_failed")
    assert failed["event_id"]
    assert await listed(learner) == []
    assert len(server.requests) == 2


async def test_what_may_pass_is_tried_again(learner, server):
    server.statuses = [429, 500]
    server.answer = memory("Likes tea")

    _, told = await learner.post(PATH, json=SAID)
    event = await ended(learner, told["event_id"])

    assert event["status"] == "SUCCEEDED"
    assert len(server.requests) == 3


async def test_what_will_not_pass_is_not_tried_again(learner, server):
    server.status = 401

    _, told = await learner.post(PATH, json=SAID)
    event = await ended(learner, told["event_id"])

    assert (event["status"], event["error"]) == ("FAILED", "The LLM provider answered 401.")
    assert len(server.requests) == 1


async def test_what_is_left_out_stands_in_the_event(learner, server):
    server.answer = json.dumps(
        {"memory": [{"text": "Likes tea"}, {"id": "7", "event": "DELETE", "text": "Lives in Oslo"}]}
    )

    _, told = await learner.post(PATH, json=SAID)
    event = await ended(learner, told["event_id"])

    assert [one["memory"] for one in event["results"]] == ["Likes tea"]
    assert event["note"] == "Left out of the LLM's answer: 1 asking to change or delete."


async def test_a_retry_with_the_same_key_learns_once(learner, server):
    server.answer = memory("Likes tea")
    headers = {"Idempotency-Key": "k1"}

    _, first = await learner.post(PATH, json=SAID, headers=headers)
    _, again = await learner.post(PATH, json=SAID, headers=headers)
    await ended(learner, first["event_id"])
    status, waited = await learner.post(PATH, json={**SAID, "wait": True}, headers=headers)
    _, other_app = await learner.post("/api/v1/apps/memories/two", json=SAID, headers=headers)
    _, bobs = await learner.post(PATH, json=SAID, headers=headers, uid="bob")

    assert again["event_id"] == first["event_id"]
    assert (status, waited["results"][0]["memory"]) == (200, "Likes tea")
    assert len({first["event_id"], other_app["event_id"], bobs["event_id"]}) == 3
    await ended(learner, other_app["event_id"])
    await ended(learner, bobs["event_id"], uid="bob")
    assert len(server.requests) == 3


async def test_twenty_retries_at_once_learn_once(learner, server):
    server.answer = memory("Likes tea")

    answers = await asyncio.gather(
        *(learner.post(PATH, json=SAID, headers={"Idempotency-Key": "k"}) for _ in range(20))
    )

    assert len({told["event_id"] for _, told in answers}) == 1
    await ended(learner, answers[0][1]["event_id"])
    assert len(server.requests) == 1


@pytest.mark.parametrize("key", ["", "x" * 256, "é"])
async def test_a_key_that_is_none_is_refused(learner, key):
    status, _ = await learner.post(PATH, json=SAID, headers={"Idempotency-Key": key})

    assert status == 422


async def test_a_persons_queue_is_bounded(learner, server):
    server.gate.hold()

    answers = [await learner.post(f"/api/v1/apps/memories/app{n}", json=SAID) for n in range(21)]
    bobs, _ = await learner.post(PATH, json=SAID, uid="bob")

    assert [status for status, _ in answers] == [202] * 20 + [429]
    assert bobs == 202


async def test_an_event_is_its_persons_only(learner, server):
    _, told = await learner.post(PATH, json=SAID)
    await ended(learner, told["event_id"])

    theirs = await learner.get(f"{EVENTS}/{told['event_id']}", uid="bob")
    unknown = await learner.get(f"{EVENTS}/3fa85f64-5717-4562-b3fc-2c963f66afa6", uid="bob")

    assert theirs == unknown
    assert theirs[0] == 404
    assert (await learner.get(EVENTS, uid="bob"))[1]["events"] == []
    for malformed in ("x", "*", "%00", "'"):
        assert (await learner.get(f"{EVENTS}/{malformed}"))[0] == 404


async def test_events_are_listed_newest_first_and_paged_without_repetition(learner, server):
    ids = []
    for n in range(5):
        _, told = await learner.post(f"/api/v1/apps/memories/app{n % 2}", json={"memory": f"Number {n}"})
        ids.append(told["event_id"])
        await ended(learner, told["event_id"])

    seen, cursor = [], ""
    while cursor is not None:
        _, page = await learner.get(f"{EVENTS}?limit=2&cursor={cursor}")
        seen += [event["id"] for event in page["events"]]
        cursor = page["next"]

    assert seen == ids[::-1]
    _, one_app = await learner.get(f"{EVENTS}?app=app0")
    assert [event["id"] for event in one_app["events"]] == [ids[4], ids[2], ids[0]]
    _, done = await learner.get(f"{EVENTS}?status=SUCCEEDED")
    assert done["count"] == 5
    assert (await learner.get(f"{EVENTS}?status=PENDING"))[1]["events"] == []
    assert (await learner.get(f"{EVENTS}?status=nope"))[0] == 422
    assert (await learner.get(f"{EVENTS}?cursor=nope"))[0] == 422


async def test_forgetting_all_reaches_what_is_in_flight(learner, server, place):
    server.answer = memory("Likes zanzibar tea")
    server.gate.hold()
    _, running = await learner.post(PATH, json=SAID)
    _, waiting = await learner.post(PATH, json=SAID)
    await server.asked()

    status, _ = await learner.delete(f"{PATH}?count=0")

    assert status == 200
    for one in (running, waiting):
        event = await ended(learner, one["event_id"])
        assert event["status"] == "FAILED"
        assert "forgotten" in event["error"]
    server.gate.let_go()
    await at_rest(learner)
    assert await listed(learner) == []
    await until(lambda: _nothing_marked(place))


async def test_a_memory_forgotten_meanwhile_is_not_brought_back(learner, server):
    server.answer = memory("Likes tea", "Lives in Oslo")
    _, told = await learner.post(PATH, json=SAID)
    event = await ended(learner, told["event_id"])
    server.gate.hold()
    _, again = await learner.post(PATH, json=SAID)
    await server.asked(2)

    await learner.delete(f"{PATH}/{event['results'][0]['id']}")
    server.gate.let_go()

    second = await ended(learner, again["event_id"])
    assert second["status"] == "SUCCEEDED"
    assert [(one["memory"], one["event"]) for one in second["results"]] == [("Lives in Oslo", "NONE")]
    assert await listed(learner) == ["Lives in Oslo"]


async def test_raw_messages_are_gone_when_the_event_ends(learner, server, place):
    server.answer = memory("Likes tea")
    _, good = await learner.post(PATH, json=SAID)
    await ended(learner, good["event_id"])
    server.answer = "prose about zanzibar"
    _, bad = await learner.post(PATH, json=SAID)
    await ended(learner, bad["event_id"])

    await until(lambda: _nothing_marked(place))


async def test_an_event_forgets_words_that_were_forgotten(learner, server):
    server.answer = memory("Likes tea")
    _, told = await learner.post(PATH, json=SAID)
    event = await ended(learner, told["event_id"])

    await learner.delete(f"{PATH}/{event['results'][0]['id']}")

    assert (await ended(learner, told["event_id"]))["results"][0]["memory"] is None


@pytest.mark.fault("The LLM hangs", "its learns end FAILED in time; what needs no LLM is not kept waiting")
async def test_what_needs_no_llm_is_not_kept_waiting_by_one_that_hangs(learner, server):
    server.gate.hold()
    for n in range(10):
        await learner.post(f"/api/v1/apps/memories/hang{n}", json=SAID)
    await server.asked(6)  # as many as are learned at once with an LLM

    _, told = await learner.post(PATH, json={"memory": "Likes tea"})
    event = await ended(learner, told["event_id"])

    assert event["status"] == "SUCCEEDED"
    assert server.running == 6


async def test_what_runs_at_the_end_of_a_runtime_is_learned_by_the_next(place, settings_environment, server):
    settings_environment.setenv("AGENT_RUNTIMES_MEM0_CONFIG_JSON", json.dumps({"llm": server.llm()}))
    first = await place.start()
    server.gate.hold()
    server.answer = memory("Likes tea")
    _, told = await first.post(PATH, json=SAID)
    await server.asked()

    await first.client.close()
    server.gate.let_go()
    second = await place.start()
    event = await ended(second, told["event_id"])

    assert event["status"] == "SUCCEEDED"
    assert await listed(second) == ["Likes tea"]
    await second.client.close()


async def _nothing_marked(place: Place) -> bool:
    """Soon after a learn, not at once: the local store empties its write-ahead log when no reader holds it."""
    return await place.marked() == []


async def _marked_rows(dsn: str) -> list[str]:
    """Rows of any table that hold the marker."""
    connection = await asyncpg.connect(dsn)
    tables = await connection.fetch(
        "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables"
        " WHERE schemaname IN ('public', 'runtime_memory')"
    )
    found = []
    for table in tables:
        rows = await connection.fetch(
            f"SELECT t::text AS row FROM {table['name']} AS t WHERE t::text ILIKE '%zanzibar%'"  # noqa: S608 (the catalogue's own names)
        )
        found += [str(row["row"]) for row in rows]
    await connection.close()
    return found
