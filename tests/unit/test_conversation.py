"""What a client sends is passed on byte for byte; only what is said to us is taken out, and a context put in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime_svc.chat.conversation import OURS, read
from shared.errors import TooLarge, Unreadable

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "developer", "user", "assistant", "tool"]), "content": JSON}
    ),
    max_size=6,
)


@given(st.dictionaries(st.text(max_size=12), JSON, max_size=5), MESSAGES, st.booleans(), st.sampled_from([None, 1]))
def test_everything_that_is_not_ours_arrives_as_it_was(others, messages, ascii_only, indent) -> None:
    body = {**others, "messages": messages, "learn": "off", "app_id": "a", "mem0_config": {"enabled": True}}
    raw = json.dumps(body, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "replace")
    sent = json.loads(raw)

    assert json.loads(read(raw).passed_on("")) == {k: v for k, v in sent.items() if k not in OURS}


@given(MESSAGES, st.text(min_size=1), st.sampled_from([None, 2]))
def test_a_context_stands_after_the_first_system_messages(messages, context, indent) -> None:
    context = context.encode("utf-8", "replace").decode()
    raw = json.dumps({"a": 1.50, "messages": messages, "b": [1]}, indent=indent).encode()
    leading = next((n for n, m in enumerate(messages) if m["role"] not in ("system", "developer")), len(messages))
    expected = list(messages)
    if messages:
        expected.insert(leading, {"role": "system", "content": context})

    assert json.loads(read(raw).passed_on(context)) == {"a": 1.5, "messages": expected, "b": [1]}


def test_numbers_and_escapes_keep_their_form() -> None:
    odd = r'"temperature":1.0, "seed":123456789012345678901234567890,"x":1e400,"y":-0.0,"z":"\u00e9\ud800\/"'
    raw = (
        '{"learn":"off",' + odd + ',"messages":[{"role":"user","content":"\\ud83c\\udf75"}],"mem0_config":{}}'
    ).encode()

    passed = read(raw).passed_on("data").decode()

    assert odd.replace(", ", ",") in passed
    assert '{"role":"user","content":"\\ud83c\\udf75"}' in passed
    assert "learn" not in passed


@pytest.mark.parametrize("messages", [None, 5, "x", {}, [], [1, None, "x", []]])
def test_messages_that_are_none_are_the_providers_to_refuse(messages) -> None:
    raw = json.dumps({"model": "m", "messages": messages}).encode()
    conversation = read(raw)

    assert (conversation.asked(), conversation.just_said()) == ("", "")
    assert json.loads(conversation.passed_on(""))["messages"] == messages


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b"{}x",
        b'{"a":1,}',
        b'{"a" 1}',
        b"{1:2}",
        b'{"a":1 "b":2}',
        b"\xff",
        b'{"a":"\xff"}',
        b'\xef\xbb\xbf{"a":1}',
        b'{"messages":[],"messages":[]}',
        b'{"app_id":"a","app_id":"b"}',
        b'{"a":' + b"[" * 100_000,
        b'{"messages":[' + b"9" * 5000 + b"]}",
        b"{" * 100_000,
    ],
)
def test_what_is_no_object_is_unreadable(raw) -> None:
    with pytest.raises(Unreadable):
        read(raw)


def test_a_body_of_too_many_values_is_refused_before_it_is_read() -> None:
    for many in (b'{"x":[' + b"1," * 400_000 + b"1]}", b"[" * 400_000, b'{"x":' + b'{"a":' * 400_000):
        with pytest.raises(TooLarge):
            read(many)


def test_the_words_of_the_last_message_of_the_user() -> None:
    def said(*messages):
        conversation = read(json.dumps({"messages": messages}).encode())
        return conversation.asked(), conversation.just_said()

    parts = [
        {"type": "text", "text": "a"},
        {"type": "image_url"},
        {"type": "text", "text": 5},
        {"type": "text", "text": "b"},
    ]

    assert said({"role": "user", "content": "one"}, {"role": "user", "content": parts}) == ("a\nb", "a\nb")
    assert said({"role": "user", "content": "one"}, {"role": "tool", "content": "x"}) == ("one", "")
    assert said({"role": "user", "content": None}) == ("", "")
    assert said({"role": ["user"], "content": "x"}) == ("", "")
