import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import BadValue
from shared.stores import cursor

ID = "3f0c1c5e-8d44-4a57-9a8e-0d5f6f6c2a11"


@given(st.none() | st.datetimes().map(lambda t: t.isoformat(timespec="microseconds") + "+00:00"), st.uuids().map(str))
def test_a_cursor_comes_back_as_it_was(created_at: str | None, memory_id: str) -> None:
    assert cursor.decode(cursor.encode(created_at, memory_id)) == (created_at, memory_id)


def _packed(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "abc",
        "*",
        "\x00",
        "\ud800",
        "é",
        "A" * 5000,
        "[" * 100,
        _packed([]),
        _packed({"a": 1}),
        _packed([1, ID]),
        _packed([None, "abc"]),
        _packed([None, 5]),
        _packed([None, ID.upper()]),
        _packed(["2026\x00", ID]),
        _packed([None, ID, 1]),
        cursor.encode(None, ID) + "=",
        cursor.encode(None, ID) + "\n",
    ],
)
def test_a_bad_cursor_is_a_bad_value(text: str) -> None:
    with pytest.raises(BadValue):
        cursor.decode(text)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        made = cursor.decode(text)
    except BadValue:
        return

    assert cursor.encode(*made) == text
