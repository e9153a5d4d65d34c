"""mem0's real extraction, through the bridge: what it reads, what it hands back, and how it fails."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from runtime_svc.engine.config import Provider, read_config
from runtime_svc.engine.extraction import Limits, Mem0Extractor
from runtime_svc.engine.provider_embedder import ProviderEmbedder
from runtime_svc.ports import LearnFailed, Message
from shared.errors import Unavailable
from shared.payloads import Details, hash_of, new_payload
from shared.records import Add, By, Door
from shared.scope import Scope
from shared.settings import BadSettingError
from shared.stores.pg.store import PostgresStore
from shared.times import now
from tests.openai_server import OpenAIServer, memory

ANA = Scope("ana", "app:one")
SAID = [Message("user", "I like tea and I live in Oslo.")]
LIMITS = Limits(parallel=2, llm_seconds=60, seconds=60)


def config(server: OpenAIServer, **parts: Any):
    return read_config(json.dumps({"llm": server.llm(), **parts}), openrouter=False)


@pytest.fixture
async def extractor(server: OpenAIServer, store: PostgresStore, embedder: ProviderEmbedder):
    opened = await Mem0Extractor.open(config(server), store, embedder, limits=LIMITS)
    yield opened
    await opened.close()


async def keep(store: PostgresStore, embedder: ProviderEmbedder, scope: Scope, words: str, **details: Any) -> str:
    [vector] = await embedder.embed([words])
    change = Add(str(uuid.uuid4()), new_payload(words, Details(**details), now=now()), vector)
    [kept] = await store.commit(scope, [change], By(scope.person, Door.APPS))
    return kept.id


async def test_facts_are_handed_back_and_not_written(extractor, store, server):
    server.answer = memory("Likes tea", "Lives in Oslo")

    extracted = await extractor.extract(ANA, SAID, details=Details(run_id="r1", metadata={"k": "v"}))

    assert [change.payload["data"] for change in extracted.changes] == ["Likes tea", "Lives in Oslo"]
    assert extracted.left_out is None
    assert (await store.page(ANA, limit=10)).total == 0


@pytest.mark.field("B95")
@pytest.mark.field("B44")
async def test_a_payload_is_complete(extractor, server):
    server.answer = memory("Likes tea", attributed_to="assistant")
    at = datetime(2026, 1, 31, 18, 30, tzinfo=timezone(timedelta(hours=-8)))
    details = Details(
        run_id="r1",
        metadata={"k": "v", "user_id": "bob", "agent_id": "app:two", "created_at": "1999", "data": "x", "hash": "x"},
        expiration_date="2027-01-01",
        learned_at=at,
    )

    extracted = await extractor.extract(ANA, SAID, details=details)

    [change] = extracted.changes
    assert isinstance(change, Add)
    assert change.payload == {
        "data": "Likes tea",
        "hash": hash_of("Likes tea"),
        "text_lemmatized": change.payload["text_lemmatized"],
        "created_at": "2026-02-01T02:30:00.000000+00:00",
        "updated_at": "2026-02-01T02:30:00.000000+00:00",
        "attributed_to": "assistant",
        "run_id": "r1",
        "expiration_date": "2027-01-01",
        "k": "v",
        "words_version": 1,
    }
    assert "tea" in change.payload["text_lemmatized"]
    assert np.linalg.norm(change.vector) == pytest.approx(1)
    assert str(uuid.UUID(change.id)) == change.id


async def test_what_is_handed_back_can_be_committed(extractor, store, server):
    server.answer = memory("Likes tea", "Lives in Oslo")
    extracted = await extractor.extract(ANA, SAID, details=Details())

    outcomes = await store.commit(ANA, extracted.changes, By("ana", Door.APPS))

    assert [outcome.event for outcome in outcomes] == ["ADD", "ADD"]
    assert {m.words for m in (await store.page(ANA, limit=10)).memories} == {"Likes tea", "Lives in Oslo"}


async def test_a_duplicate_is_for_the_store_to_answer(extractor, store, embedder, server):
    kept = await keep(store, embedder, ANA, "Likes tea")
    server.answer = memory("Likes tea")

    extracted = await extractor.extract(ANA, SAID, details=Details())
    [outcome] = await store.commit(ANA, extracted.changes, By("ana", Door.APPS))

    assert (outcome.id, outcome.event) == (kept, "NONE")


async def test_only_the_scope_is_read(extractor, store, embedder, server):
    await keep(store, embedder, ANA, "Mine: likes tea")
    await keep(store, embedder, Scope("bob", "app:one"), "Bob likes tea and lives in Oslo")
    await keep(store, embedder, Scope("ana", "app:two"), "Other: likes tea")

    await extractor.extract(ANA, SAID, details=Details())

    assert "Mine: likes tea" in server.prompt()
    assert "Bob" not in str(server.requests)
    assert "Other" not in str(server.requests)


async def test_many_people_at_once_are_never_mixed(extractor, store, embedder, server):
    people = [Scope(f"p{n}", "app:one") for n in range(12)]
    for scope in people:
        await keep(store, embedder, scope, f"I am {scope.person}.")
    server.answer = lambda body: memory(f"Said by {body['messages'][-1]['content'].split('speaker ')[1].split('.')[0]}")
    server.pause = 0.02

    all_extracted = await asyncio.gather(
        *(
            extractor.extract(scope, [Message("user", f"I am speaker {scope.person}.")], details=Details())
            for scope in people
        )
    )

    assert [e.changes[0].payload["data"] for e in all_extracted] == [f"Said by {s.person}" for s in people]
    for request in server.requests:
        prompt = request["messages"][-1]["content"]
        speaker = prompt.split("speaker ")[1].split(".")[0]
        assert prompt.count("I am p") == 1
        assert f'"I am {speaker}."' in prompt
    assert server.most_running <= LIMITS.parallel


async def test_the_run_narrows_what_is_looked_up(extractor, store, embedder, server):
    await keep(store, embedder, ANA, "Of this run", run_id="r1")
    await keep(store, embedder, ANA, "Of another run", run_id="r2")

    await extractor.extract(ANA, SAID, details=Details(run_id="r1"))

    assert "Of this run" in server.prompt()
    assert "Of another run" not in server.prompt()


@pytest.mark.field("S12")
@pytest.mark.parametrize("person", ["*", "a b", " ana", "1", "ana%", "'; DROP TABLE x; --", "🦊" * 60, "اسم"])
async def test_no_identifier_passes_through_mem0(extractor, server, person):
    server.answer = memory("Likes tea")

    extracted = await extractor.extract(Scope(person, "app:one"), SAID, details=Details())

    assert len(extracted.changes) == 1
    assert not {"user_id", "agent_id"} & set(extracted.changes[0].payload)
    assert person not in server.prompt() or person in "1*"


@pytest.mark.field("B91")
@pytest.mark.parametrize(
    "messages",
    [
        [],
        [Message("user", "")],
        [Message("user", "  \n\t ")],
        [Message("user", "\u200b\u200d\ufeff")],
        [Message("system", "You are helpful.")],
        [Message("tool", "42"), Message("user", "")],
    ],
)
async def test_nothing_said_asks_the_llm_nothing(extractor, server, messages):
    server.answer = memory("Invented")

    assert (await extractor.extract(ANA, messages, details=Details())).changes == ()
    assert server.requests == []
    assert server.embedded == []


@pytest.mark.field("B92")
async def test_the_prompt_keeps_who_said_what(extractor, server):
    messages = [
        Message("user", "How do I sort?", name="Ana"),
        Message("assistant", "I solved it recursively."),
        Message("tool", "secret tool output"),
    ]
    server.answer = lambda body: memory(
        "Solved it recursively", attributed_to="assistant" if "assistant: I solved it" in str(body) else "user"
    )

    extracted = await extractor.extract(ANA, messages, details=Details())

    assert "user: Ana: How do I sort?\nassistant: I solved it recursively.\n" in server.prompt()
    assert "secret tool output" not in server.prompt()
    assert extracted.changes[0].payload["attributed_to"] == "assistant"


@pytest.mark.field("B46")
async def test_the_date_offered_to_the_llm_carries_its_offset(extractor, server):
    at = datetime(2026, 5, 1, 12, 45, tzinfo=timezone(timedelta(hours=8)))
    server.answer = lambda body: memory(
        "Ate at " + body["messages"][-1]["content"].split("## Observation Date\n")[1].split("\n")[0]
    )

    extracted = await extractor.extract(ANA, [Message("user", "Today at 12:45 I ate.", at=at)], details=Details())

    assert extracted.changes[0].payload["data"] == "Ate at 2026-05-01T12:45:00+08:00"


async def test_a_backdated_learn_is_dated_by_it(extractor, server):
    details = Details(learned_at=datetime(2020, 2, 3, tzinfo=UTC))

    await extractor.extract(ANA, SAID, details=details)

    assert "## Observation Date\n2020-02-03T00:00:00+00:00\n" in server.prompt()


async def test_one_conversation_never_stands_in_the_next(extractor, server):
    server.answer = memory("Likes tea")
    await extractor.extract(ANA, [Message("user", "The first conversation")], details=Details())

    await extractor.extract(ANA, [Message("user", "The second conversation")], details=Details())

    assert "The first conversation" not in str(server.requests[-1])


async def test_instructions_reach_the_llm(extractor, server):
    await extractor.extract(ANA, SAID, details=Details(), instructions="Only hobbies, please.")

    assert "## Custom Instructions\nOnly hobbies, please." in server.prompt()


@pytest.mark.field("B80")
async def test_a_long_conversation_is_learned_with_an_embedder_that_takes_little(extractor, server):
    server.longest_input = 8_000
    server.answer = memory("Talks a lot")

    extracted = await extractor.extract(ANA, [Message("user", "x y " * 500)] * 200, details=Details())

    assert len(extracted.changes) == 1


@pytest.mark.field("B89")
@pytest.mark.parametrize(
    "answer",
    ["no json", "", '{"memory": null}', '[{"text": "Likes tea"}]', '{"memory": [{"text": "Likes', '{"tool_calls": []}'],
)
async def test_an_answer_that_cannot_be_read_fails_for_good(extractor, server, answer):
    server.answer = answer

    with pytest.raises(LearnFailed) as failed:
        await extractor.extract(ANA, SAID, details=Details())

    assert not failed.value.may_pass
    assert failed.value.sentence.startswith("The LLM")
    assert len(server.requests) == 1


async def test_what_is_left_out_is_said(extractor, server):
    server.answer = memory("Likes tea", "", "x" * 100_000)

    extracted = await extractor.extract(ANA, SAID, details=Details())

    assert len(extracted.changes) == 1
    assert extracted.left_out is not None
    assert extracted.left_out.startswith("Left out of the LLM's answer: 2 empty, longer")


@pytest.mark.parametrize(
    ("status", "may_pass"),
    [(429, True), (500, True), (503, True), (529, True), (400, False), (401, False), (404, False)],
)
async def test_a_status_says_whether_it_may_pass_and_is_not_retried_behind_our_back(
    extractor, server, status, may_pass
):
    server.status = status

    with pytest.raises(LearnFailed) as failed:
        await extractor.extract(ANA, SAID, details=Details())

    assert failed.value.may_pass is may_pass
    assert failed.value.sentence == f"The LLM provider answered {status}."
    assert len(server.requests) == 1


async def test_the_wait_that_a_provider_asks_for_is_kept(extractor, server):
    server.status, server.headers = 429, {"Retry-After": "7"}

    with pytest.raises(LearnFailed) as failed:
        await extractor.extract(ANA, SAID, details=Details())

    assert failed.value.retry_after == 7


async def test_a_provider_that_hangs_is_left_after_its_time(server, store, embedder):
    impatient = await Mem0Extractor.open(
        config(server), store, embedder, limits=Limits(parallel=2, llm_seconds=0.3, seconds=60)
    )
    server.gate.hold()

    with pytest.raises(LearnFailed) as failed:
        await impatient.extract(ANA, SAID, details=Details())

    assert failed.value.may_pass
    assert failed.value.sentence == "The LLM did not answer in time."
    assert server.running == 1
    await impatient.close()


async def test_waiting_for_others_that_hang_ends_too(server, store, embedder):
    impatient = await Mem0Extractor.open(
        config(server), store, embedder, limits=Limits(parallel=2, llm_seconds=60, seconds=0.5)
    )
    server.gate.hold()

    failures = await asyncio.gather(
        *(impatient.extract(ANA, SAID, details=Details()) for _ in range(12)), return_exceptions=True
    )

    assert all(isinstance(failure, LearnFailed) and failure.may_pass for failure in failures)
    assert {failure.sentence for failure in failures} == {"Extraction did not end in time."}
    assert len(server.requests) <= 2
    server.gate.let_go()
    await impatient.close()


async def test_a_provider_that_is_away_may_come_back(server, store, embedder):
    given = config(server, llm=server.llm(openai_base_url="http://127.0.0.1:9/v1"))
    away = await Mem0Extractor.open(given, store, embedder, limits=LIMITS)

    with pytest.raises(LearnFailed) as failed:
        await away.extract(ANA, SAID, details=Details())

    assert failed.value.may_pass
    assert failed.value.sentence == "The LLM provider cannot be reached."
    await away.close()


@pytest.mark.parametrize(
    "raw", [b"", b"{}", b"[]", b'{"choices": []}', b'{"choices": [{"message": {"content": null}}]}', b"<html>"]
)
async def test_a_completion_that_is_none_fails_for_good(extractor, server, raw):
    server.raw = raw

    with pytest.raises(LearnFailed) as failed:
        await extractor.extract(ANA, SAID, details=Details())

    assert not failed.value.may_pass


async def test_a_failing_embedder_is_a_failure_and_not_nothing_learned(extractor, server):
    server.answer = memory("Likes tea", "Lives in Oslo")
    asked = 0

    def vector(text: str) -> list[float]:
        nonlocal asked
        asked += 1
        if asked > 1:
            raise RuntimeError
        return [1.0] * server.dimensions

    server.vector = vector

    with pytest.raises(LearnFailed) as failed:
        await extractor.extract(ANA, SAID, details=Details())

    assert failed.value.may_pass


async def test_a_store_that_is_down_is_a_failure_that_may_pass(extractor, opened):
    await opened.close()

    with pytest.raises(LearnFailed) as failed:
        await extractor.extract(ANA, SAID, details=Details())

    assert failed.value.may_pass


@pytest.mark.fault("The LLM hangs", "the service answers meanwhile")
@pytest.mark.field("B73")
async def test_the_loop_of_the_service_is_free_while_all_llm_calls_hang(extractor, server):
    server.gate.hold()
    hanging = [asyncio.ensure_future(extractor.extract(ANA, SAID, details=Details())) for _ in range(8)]
    await server.asked(LIMITS.parallel)
    for _ in range(50):
        await asyncio.to_thread(int)

    assert not any(one.done() for one in hanging)
    for one in hanging:
        one.cancel()
    await asyncio.gather(*hanging, return_exceptions=True)


async def test_no_words_are_logged(extractor, server, caplog):
    caplog.set_level(logging.DEBUG)
    server.answer = memory("Likes zanzibar tea")
    await extractor.extract(ANA, [Message("user", "I like zanzibar tea")], details=Details())
    server.answer = "zanzibar prose"
    with pytest.raises(LearnFailed) as failed:
        await extractor.extract(ANA, [Message("user", "I like zanzibar tea")], details=Details())

    assert "zanzibar" not in caplog.text.lower()
    assert "secret-api-key" not in caplog.text
    assert "zanzibar" not in failed.value.sentence


@pytest.mark.parametrize(
    ("llm", "says"),
    [
        ({"provider": "nobody"}, "mem0 knows no such llm provider; it knows anthropic"),
        (
            {"provider": "openai", "config": {"api_key": "secret-api-key", "unknown": 1}},
            "refuses its configuration (TypeError)",
        ),
        ({"provider": "openai", "config": {"model": "m"}}, "refuses its configuration (OpenAIError)"),
        ({"provider": "ollama", "config": {"model": "m"}}, "needs a Python package that is not installed"),
    ],
)
async def test_a_provider_that_cannot_be_used_is_a_sentence_at_start(store, embedder, monkeypatch, llm, says):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    given = read_config(json.dumps({"llm": llm}), openrouter=False)

    with pytest.raises(BadSettingError) as fault:
        await Mem0Extractor.open(given, store, embedder)

    assert says in str(fault.value)
    assert "secret" not in str(fault.value)


async def test_mem0s_own_stores_stand_in_its_factories_afterwards(extractor):
    from mem0.utils.factory import EmbedderFactory, VectorStoreFactory

    assert VectorStoreFactory.provider_to_class["faiss"] == "mem0.vector_stores.faiss.FAISS"
    assert EmbedderFactory.provider_to_class["huggingface"].startswith("mem0.")


async def test_an_embedder_of_a_provider_answers_unit_vectors_in_order(embedder, server):
    texts = ["one", "two", "three"]

    vectors = await embedder.embed(texts)

    assert embedder.dimensions == server.dimensions
    for text, vector in zip(texts, vectors, strict=True):
        wanted = np.asarray(server.vector(text), dtype=np.float32)
        assert vector == pytest.approx(wanted / np.linalg.norm(wanted), abs=1e-6)
        assert vector.dtype == np.float32
    assert await embedder.embed([]) == []


@pytest.mark.parametrize("vector", [[0.0] * 8, [1.0] * 7, [float("1e39")] * 8])
async def test_a_vector_that_cannot_be_used_is_refused(embedder, server, vector):
    server.vector = lambda _: vector

    with pytest.raises(Unavailable):
        await embedder.embed(["one"])


async def test_an_embedder_that_is_down_is_unavailable_without_retries(embedder, server):
    server.embed_status = 500

    with pytest.raises(Unavailable):
        await embedder.embed(["one"])

    assert len(server.embedded) == 1


async def test_an_embedder_that_says_no_dimensions_is_asked_for_a_vector(server):
    given = server.llm(embedding_dims=None)
    opened = await ProviderEmbedder.open(Provider(given["provider"], given["config"]), seconds=60)

    assert opened.dimensions == 1536  # what mem0 takes for this provider
    await opened.close()
