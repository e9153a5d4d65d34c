"""Finding entities: bounded, and never in the way of what is kept."""

from __future__ import annotations

import threading
import time

import pytest

from runtime_svc.engine import entities
from runtime_svc.engine.entities import Mem0Entities
from runtime_svc.engine.threads import DaemonExecutor
from shared.named import Named
from shared.settings import BadSettingError


async def test_it_works_on_a_thread_of_its_own_and_keeps_each_name_once():
    threads = set()

    def find(texts):
        threads.add(threading.current_thread().name)
        return [[("PROPER", "Alice"), ("TOPIC", "alice"), ("PROPER", " ")] for _ in texts]

    model = Mem0Entities(find, DaemonExecutor(1, "entities"))

    assert await model.named(["x", "y"]) == [[Named("Alice", "proper")]] * 2
    assert threads == {"entities-0"}
    await model.close()


async def test_a_model_that_fails_finds_nothing_and_raises_nothing():
    model = Mem0Entities(lambda texts: [[("PROPER", texts[7])]], DaemonExecutor(1, "entities"))

    assert await model.named(["x"]) == [[]]
    await model.close()


async def test_a_model_that_takes_too_long_is_not_waited_for():
    def slow(texts):
        time.sleep(0.5)
        return [[] for _ in texts]

    model = Mem0Entities(slow, DaemonExecutor(1, "entities"), seconds=0.05)
    started = time.monotonic()

    assert await model.named(["x"]) == [[]]
    assert time.monotonic() - started < 0.4
    await model.close()


async def test_without_the_extra_it_refuses_to_start_in_a_sentence(monkeypatch):
    monkeypatch.setattr(entities, "MODEL", "no_such_model")

    with pytest.raises(BadSettingError, match=r"runtime-memory\[runtime,entities\]"):
        await Mem0Entities.open()
