"""The assistant's words are heard while they pass, and count when the answer is whole."""

from __future__ import annotations

import json

from runtime_svc.chat.hearing import Heard
from tests.chat_provider import chunk


def test_a_stream_is_heard_once_it_has_ended() -> None:
    heard = Heard()
    for word in ("Plays ", "the ", "cello 🎻"):
        heard.lines(f"event: x\n: ping\ndata: {json.dumps(chunk(word))}\n\n".encode())
    heard.lines(b"data: [DONE]\n\ndata: {bad\n\ndata: 5\n\n")

    assert heard.text == ""
    heard.end()
    assert heard.text == "Plays the cello 🎻"


def test_a_whole_answer_is_heard() -> None:
    heard = Heard()
    heard.answer(json.dumps({"choices": [{"index": 0, "message": {"content": "Hello"}}]}).encode())

    assert heard.text == "Hello"


def test_what_says_nothing_is_nothing() -> None:
    for body in (
        b"",
        b"[]",
        b"{}",
        b'{"choices":[]}',
        b'{"choices":[5]}',
        b'{"choices":[{"message":{"content":null}}]}',
    ):
        heard = Heard()
        heard.answer(body)

        assert heard.text == ""


def test_a_long_answer_is_heard_up_to_a_bound() -> None:
    heard = Heard()
    for _ in range(100):
        heard.lines(f"data: {json.dumps(chunk('x' * 10_000))}\n\n".encode())
    heard.end()

    assert len(heard.text) == 64_000
