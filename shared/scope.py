"""Whose memories: the person and the application, the two keys of everything that is kept."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from shared.errors import BadValue

PREFIX = "app:"
"""What an application's key starts with; its uid in a path does not."""

_LONGEST = 255


def unusable(value: object) -> str | None:
    """Why a value cannot identify a person or an application, in a clause; None when it can.

    Nothing is trimmed or cast: `ana`, `ANA`, `ana1` and `ana%` are four people. `*` is refused because mem0 takes it
    for "any".
    """
    if not isinstance(value, str):
        return "is not text"
    if not value:
        return "is empty"
    if len(value) > _LONGEST:
        return f"is longer than {_LONGEST} characters"
    if value == "*":
        return "is the wildcard"
    # Most are ASCII, and are looked at whole: this is asked several times at each request.
    plain = value.isascii() and value.isprintable() and " " not in value
    if not plain and any(c.isspace() or unicodedata.category(c) in {"Cc", "Cs", "Zs", "Zl", "Zp"} for c in value):
        return "has white space, a control character or a lone surrogate"
    return None


def person_uid(value: object) -> str:
    """A usable person uid. Raises BadValue without quoting what came."""
    if (why := unusable(value)) is not None:
        raise BadValue(f"A person's uid {why}.")
    return str(value)


def application_key(value: object) -> str:
    """A usable application key, `app:<uid>`, as `agent_id`, `source` and `reader` carry it. Raises BadValue."""
    if unusable(value) is not None or not str(value).startswith(PREFIX) or len(str(value)) == len(PREFIX):
        raise BadValue(f"An application's key is {PREFIX}<uid>, without white space, at most {_LONGEST} characters.")
    if str(value) == f"{PREFIX}*" or str(value).startswith(PREFIX * 2):
        raise BadValue("That names no application.")
    return str(value)


def application_of(uid: object) -> str:
    """The key of an application named in a path by its bare uid. Raises BadValue; a key is never doubled."""
    if unusable(uid) is not None or str(uid).startswith(PREFIX):
        raise BadValue(f"That names no application: in a path it is its uid, without {PREFIX} and without white space.")
    return application_key(PREFIX + str(uid))


@dataclass(frozen=True, slots=True)
class Scope:
    """One person and one application. Made from a verified caller only, see `shared.tokens`."""

    person: str
    application: str


@dataclass(frozen=True, slots=True)
class Everything:
    """All that every application remembers of one person: for reads, and for writes by a memory's id."""

    person: str


Reach = Scope | Everything
"""How far a read, or a write by id, goes. Never wider than one person."""
