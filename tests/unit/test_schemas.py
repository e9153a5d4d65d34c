"""A JSON Schema that a person gives is checked, and checking against it ends soon and fetches nothing."""

from __future__ import annotations

from typing import Any

import pytest

from shared.errors import BadValue
from shared.schemas import check_data, check_schema


@pytest.mark.parametrize(
    "schema",
    [
        7,
        "x",
        {"type": "strnig"},
        {"minLength": -1},
        {"pattern": "(a+)+$"},
        {"properties": {"a": {"patternProperties": {"(a+)+$": {}}}}},
        {"unevaluatedProperties": False},
        {"description": "x" * 40_000},
        {"required": [1] * 2000},
    ],
)
def test_what_is_no_schema_or_cannot_be_bounded_is_refused(schema: Any) -> None:
    with pytest.raises(BadValue):
        check_schema(schema)


@pytest.mark.parametrize(
    "schema", [True, {}, {"properties": {"pattern": {"type": "string"}}}, {"enum": ["a", None, 1]}]
)
def test_a_schema_is_taken(schema: Any) -> None:
    check_schema(schema)
    check_data({}, schema if schema != {"enum": ["a", None, 1]} else True)


@pytest.mark.parametrize("ref", ["http://127.0.0.1:1/schema.json", "file:///etc/passwd", "other.json", "#/$defs/none"])
def test_a_reference_to_elsewhere_is_refused_and_nothing_is_fetched(ref: str) -> None:
    with pytest.raises(BadValue, match="not in it"):
        check_data({"a": 1}, {"$ref": ref})


@pytest.mark.parametrize(
    ("schema", "data"),
    [
        ({"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}, 1),
        (
            {
                "$defs": {f"n{n}": {"allOf": [{"$ref": f"#/$defs/n{n + 1}"}] * 2} for n in range(40)} | {"n40": {}},
                "$ref": "#/$defs/n0",
            },
            1,
        ),
        ({"const": {"pattern": "(a+)+$"}, "$ref": "#/const"}, "a" * 40 + "!"),
        ({"items": {"anyOf": [{"const": n} for n in range(400)]}}, list(range(1000, 11_000))),
    ],
)
@pytest.mark.timeout(60)
def test_what_would_take_forever_is_refused_soon(schema: Any, data: Any) -> None:
    with pytest.raises(BadValue):
        check_data(data, schema)


def test_unique_items_of_any_kind_are_told_apart_in_linear_time() -> None:
    schema = {"type": "array", "uniqueItems": True}
    check_data([1, "1", {"a": 1}, [1], None, True], schema)
    check_data([{"n": n} for n in range(5000)], schema)

    with pytest.raises(BadValue, match="uniqueItems"):
        check_data([{"a": 1, "b": 2}, {"b": 2, "a": 1}], schema)
