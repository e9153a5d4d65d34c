"""JSON Schemas of typed data: a person gives them, so checking one, or a document against one, is bounded.

Draft 2020-12, without what cannot be bounded: regular expressions and what looks at what others evaluated. Nothing is
ever fetched: a reference leads into the schema itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

import orjson
import referencing
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import extend
from referencing.exceptions import Unresolvable

from shared.documents import check_document
from shared.errors import BadValue

LARGEST_SCHEMA = 32 * 1024
"""Bytes."""

_STEPS = 50_000
"""Keywords that are looked at for one document."""
_LONGEST_LIST = 500
_REFUSED = frozenset(
    {"pattern", "patternProperties", "unevaluatedItems", "unevaluatedProperties", "$dynamicRef", "$recursiveRef"}
)
_NAMED = frozenset({"properties", "$defs", "definitions", "dependentSchemas"})
_VALUES = frozenset({"const", "enum", "default", "examples"})
_UNBOUNDED = "The schema uses {name}, which is not known here."
_TOO_MUCH = "Checking the data against its schema takes too long. Simplify the schema."
_ELSEWHERE = "The schema refers to something that is not in it."

_left: ContextVar[list[int]] = ContextVar("_left")

Keyword = Callable[[Any, Any, Any, Any], Any]


def check_schema(schema: object) -> None:
    """Raises BadValue, with the place of the fault, for what is no JSON Schema, or cannot be bounded."""
    if not isinstance(schema, dict | bool):
        raise BadValue("A schema is a JSON object.")
    check_document(schema, "A schema", most=LARGEST_SCHEMA)
    for name in _keywords(schema):
        if name in _REFUSED:
            raise BadValue(_UNBOUNDED.format(name=name))
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise BadValue(f"schema: {_place(error)} is not as JSON Schema has it.") from None
    _faults(schema, {})


def check_data(data: object, schema: object) -> None:
    """Raises BadValue, with the path of the first fault, when data does not fit its schema."""
    fault = _faults(schema, data)
    if fault is not None:
        raise BadValue(f"data: {_place(fault)} does not fit `{fault.validator}` of its schema.", at=fault.json_path)


def _faults(schema: Any, data: Any) -> ValidationError | None:
    _left.set([_STEPS])
    try:
        checker = _Bounded(schema, registry=referencing.Registry())
        return next(iter(checker.iter_errors(data)), None)
    except (Unresolvable, ValueError) as error:
        raise BadValue(_ELSEWHERE) from error
    except RecursionError as error:
        raise BadValue(_TOO_MUCH) from error


def _place(fault: ValidationError | SchemaError) -> str:
    return fault.json_path[:200]


def _keywords(schema: object) -> Iterator[str]:
    """Every name that may be a keyword, wherever a schema may stand."""
    if isinstance(schema, list):
        if len(schema) > _LONGEST_LIST:
            raise BadValue(f"A list in a schema has at most {_LONGEST_LIST} members.")
        for one in schema:
            yield from _keywords(one)
    elif isinstance(schema, Mapping):
        for name, value in schema.items():
            yield name
            if name in _NAMED and isinstance(value, Mapping):
                for one in value.values():
                    yield from _keywords(one)
            elif name not in _VALUES:
                yield from _keywords(value)


def _counted(keyword: Keyword) -> Keyword:
    """The keyword, until the steps for this document are used up."""

    def step(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        left = _left.get()
        left[0] -= 1 + (len(value) // 10 if isinstance(value, list | dict) else 0)
        if left[0] < 0:
            raise BadValue(_TOO_MUCH)
        # A reference may lead into a value, where no keyword was looked for.
        if name := next(iter(_REFUSED & schema.keys()), None):
            raise BadValue(_UNBOUNDED.format(name=name))
        return keyword(validator, value, instance, schema)

    return step


def _unique(_validator: Any, wanted: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    """`uniqueItems` in linear time."""
    if wanted is True and isinstance(instance, list):
        seen = {orjson.dumps(one, option=orjson.OPT_SORT_KEYS) for one in instance}
        if len(seen) != len(instance):
            yield ValidationError("has an item twice")


_Bounded = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {
        name: _counted(_unique if name == "uniqueItems" else keyword)
        for name, keyword in Draft202012Validator.VALIDATORS.items()
    },
)
