"""Reads what a request says: a JSON body as a checked model, and query parameters. A fault is a sentence."""

from __future__ import annotations

import json
import math
from typing import Any, TypeVar

from aiohttp import web
from pydantic import BaseModel, ConfigDict, ValidationError

from shared.errors import BadValue, Unreadable, WrongMediaType

LARGEST = 1024 * 1024
"""Bytes of a body."""

_KINDS = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
}
"""What a value should be, by the kind of pydantic's fault."""

_PAGING = frozenset({"page", "page_size", "per_page", "skip", "start", "top_k", "before", "after"})
"""Names that other services page by: ignoring one would quietly answer something else than was asked."""


class Body(BaseModel):
    """A request body: types as they are, nothing cast; unknown members are ignored, as released clients need."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", hide_input_in_errors=True)


AnyBody = TypeVar("AnyBody", bound=Body)


async def read(request: web.Request, model: type[AnyBody]) -> AnyBody:
    """The body as a model. Raises Unreadable, WrongMediaType, BadValue; aiohttp answers 413 for a larger one."""
    try:
        return model.model_validate(await read_object(request))
    except ValidationError as error:
        raise bad_value(error) from None


def bad_value(error: ValidationError) -> BadValue:
    """The first fault of a model, in a sentence that names the member and never quotes the value."""
    found = error.errors(include_input=False, include_context=False, include_url=False)
    # Of a member that may be of several kinds, each kind has a fault: the one that came furthest is what was meant.
    rivals = [one for one in found if one["loc"][:1] == found[0]["loc"][:1] and any(map(_is_kind, one["loc"]))]
    furthest = max((len(one["loc"]) for one in rivals), default=0)
    meant = [one for one in rivals if len(one["loc"]) == furthest] or found[:1]
    where = ".".join(str(part) for part in meant[0]["loc"] if not _is_kind(part)) or "The body"
    kinds = [_KINDS.get(one["type"]) for one in meant]
    if None in kinds:
        return BadValue(f"{where}: {meant[0]['msg'].removeprefix('Value error, ')}.")
    return BadValue(f"{where}: Input should be {' or '.join(str(kind) for kind in dict.fromkeys(kinds))}.")


def _is_kind(part: int | str) -> bool:
    """Whether a part of a fault's place is no member, but which kind of it was tried."""
    return isinstance(part, str) and (part in {"str", "int", "float", "bool"} or part.startswith(("dict[", "list[")))


async def read_object(request: web.Request) -> dict[str, Any]:
    """The body as a JSON object; empty is `{}`. Raises Unreadable, WrongMediaType, BadValue."""
    raw = await request.read()
    if not raw:
        return {}
    if request.headers.get("Content-Type") and not request.content_type.endswith("json"):
        raise WrongMediaType("The body is to be application/json.")
    return parsed(raw)


def parsed(raw: bytes) -> dict[str, Any]:
    """JSON as an object: UTF-8, no duplicate keys, finite numbers, no NUL and no lone surrogate. Raises Unreadable."""
    try:
        value = json.loads(raw.decode(), object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise Unreadable("The body is not UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise Unreadable("The body is not valid JSON.") from error
    if not isinstance(value, dict):
        raise Unreadable("The body is to be a JSON object.")
    if b"\\u" in raw or b"\x00" in raw:
        try:
            _check_escapes(value)
        except RecursionError as error:
            raise Unreadable("The body is nested too deep.") from error
    return value


def _check_escapes(value: dict[str, Any]) -> None:
    text = json.dumps(value, ensure_ascii=False)
    if "\\u0000" in text and "\0" in "".join(_texts(value)):
        raise BadValue("The body has a NUL character.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadValue("The body has a lone surrogate.") from error


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for key, member in value.items() for text in (key, *_texts(member))]
    if isinstance(value, list):
        return [text for member in value for text in _texts(member)]
    return []


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_constant(_: str) -> float:
    raise ValueError("not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("not a finite number")
    return number


def text(request: web.Request, name: str) -> str | None:
    """A query parameter, None when absent or empty. Raises BadValue when it is given twice or cannot be kept."""
    values = request.query.getall(name, [])
    if len(values) > 1:
        raise BadValue(f"{name} is given more than once.")
    if not values or not values[0]:
        return None
    value = values[0]
    if "\0" in value or (not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value)):
        raise BadValue(f"{name} has a character that cannot be.")
    return value


def integer(request: web.Request, name: str, *, default: int | None, least: int = 0, most: int = 2**53) -> int | None:
    """A whole number of the query, within bounds. Raises BadValue."""
    value = text(request, name)
    if value is None:
        return default
    digits = value.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20) or not least <= int(value) <= most:
        raise BadValue(f"{name} is a whole number from {least} to {most}.")
    return int(value)


def flag(request: web.Request, name: str) -> bool:
    """A true-or-false of the query, false when absent. Raises BadValue."""
    value = (text(request, name) or "false").lower()
    if value not in {"true", "false", "1", "0"}:
        raise BadValue(f"{name} is true or false.")
    return value in {"true", "1"}


def refuse_foreign_paging(request: web.Request, *known: str) -> None:
    """Raises BadValue for a paging parameter of another dialect: it is never quietly ignored."""
    if strange := sorted(_PAGING & request.query.keys() - set(known)):
        raise BadValue(f"{strange[0]} is not known here: page by limit with offset or cursor.")
