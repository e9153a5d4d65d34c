"""Who and what a request of this dialect is about: the caller, how far it reaches, and the condition inside that.

The reach is the credential's, always. Entity ids, filters and metadata that a client sends only narrow it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from shared.errors import BadValue, NotAllowed
from shared.filter_grammar import ALIASES, parse
from shared.filters import Filter, every
from shared.scope import PREFIX, Reach, Scope, application_of
from shared.tokens import Caller, acting_for, person_of, reach_of, scope_of
from shared.wording import says_something

ENTITIES = ("user_id", "agent_id", "app_id", "run_id")
DEFAULT_APPLICATION = f"{PREFIX}default"
"""Where a key that is not bound keeps what comes without an `app_id`."""

_LONGEST_ID = 255
_NO_ENTITY = "At least one of user_id, agent_id, app_id or run_id is required."


@dataclass(frozen=True, slots=True)
class Asked:
    """Whom a request acts for, how far it reaches, and what it asks for within."""

    caller: Caller
    reach: Reach
    where: Filter | None


def acting(caller: Caller, named: Iterable[str]) -> Caller:
    """The caller, or, where it may impersonate, the one other person who is named.

    Raises NotAllowed: a credential acts for its owner, and for one person at a time.
    """
    people = {one for one in named if one != "*"}
    own = person_of(caller)
    if not people - {own}:
        return caller
    if len(people) > 1:
        raise NotAllowed("This credential acts for one person: another user_id is not its own.")
    return acting_for(caller, people.pop())


def asked(caller: Caller, *raw: object, entity_required: bool = True) -> Asked:
    """What filters ask for, all of them together. Raises BadValue, and NotAllowed for another person's user_id."""
    where = together(*raw)
    if entity_required and (where is None or not where.named):
        raise BadValue(_NO_ENTITY)
    person = acting(caller, () if where is None else where.values_of("user_id"))
    return Asked(person, reach_of(person), where)


def together(*raw: object) -> Filter | None:
    """Several filters as one. Raises BadValue."""
    return every(*(parse(one) for one in raw))


def ids_of(said: Mapping[str, Any]) -> dict[str, object]:
    """The entity ids that stand at the top level of a body or a query, as a filter."""
    return {name: said[name] for name in ENTITIES if said.get(name) is not None}


def added_to(said: Mapping[str, Any], filters: Mapping[str, Any] | None) -> dict[str, str]:
    """The one entity of each kind that an add is about, at the top level or in `filters`.

    Raises BadValue: none, anything else in `filters`, two that differ, and what no filter could ask for afterwards.
    """
    inside = {ALIASES.get(name, name): value for name, value in (filters or {}).items() if value is not None}
    if not inside.keys() <= set(ENTITIES):
        raise BadValue("The filters of an add name user_id, agent_id, app_id and run_id, and nothing else.")
    ids = {**inside, **ids_of(said)}
    if not ids:
        raise BadValue(_NO_ENTITY)
    if any(ids[name] != value for name, value in inside.items()):
        raise BadValue("An id of an add is not the same in filters and beside them.")
    return {name: _one_id(name, value) for name, value in ids.items()}


def _one_id(name: str, value: object) -> str:
    if not isinstance(value, str) or value == "*" or not says_something(value) or len(value) > _LONGEST_ID:
        raise BadValue(f"{name} is one id: text that is not empty, of at most {_LONGEST_ID} characters, and not *.")
    return value


def narrowings(said: Mapping[str, Any]) -> dict[str, object]:
    """What a search or a list says beside its filters, as one filter: categories, metadata, keywords, dates."""
    found: dict[str, object] = {}
    if said.get("categories"):
        found["categories"] = {"in": said["categories"]}
    if said.get("metadata"):
        found["metadata"] = said["metadata"]
    if said.get("keywords"):
        found["keywords"] = {"icontains": said["keywords"]}
    dates = {"gte": said.get("start_date"), "lte": said.get("end_date")}
    if given := {operator: date for operator, date in dates.items() if date is not None}:
        found["created_at"] = given
    return found


def keeping(caller: Caller, said: Mapping[str, Any]) -> tuple[Caller, Scope]:
    """Who learns, and in which application: the one named, a bound key's own, or `app:default`. Raises as `asked`."""
    user = said.get("user_id")
    person = acting(caller, () if user is None else (user,))
    if said.get("app_id") is not None:
        return person, scope_of(person, application_of(said["app_id"]))
    reach = reach_of(person)
    return person, reach if isinstance(reach, Scope) else Scope(reach.person, DEFAULT_APPLICATION)


def json_object(text: str | None, name: str) -> dict[str, Any] | None:
    """A JSON object that stands in a query parameter. Raises BadValue."""
    if text is None:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise BadValue(f"{name} is a JSON object.")
    return value
