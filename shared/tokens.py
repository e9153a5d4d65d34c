"""Turns a credential into a value, once: who is calling, proved."""

from __future__ import annotations

from dataclasses import dataclass, field

from shared.errors import NotAllowed
from shared.scope import Everything, Scope


@dataclass(frozen=True, slots=True)
class Person:
    """A signed-in person, by the uid of a verified credential."""

    uid: str
    actor: str
    """Whose credential it is: the same uid, unless a key impersonates."""
    via: str
    """`jwt`, `key` or `loopback`."""
    scopes: frozenset[str] = field(default_factory=frozenset)
    """What it may beyond its own: `users:impersonate`, `platform_admin`."""
    application: str | None = None
    """The one application a key is bound to; None when it is not bound."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The runtime itself, remembering as its owner."""

    owner: str


@dataclass(frozen=True, slots=True)
class Nobody:
    """A caller who is not a signed-in person: nothing is read and nothing kept."""

    why: str
    """`none`, `anonymous` or `embed`."""


Caller = Person | Machine | Nobody

NOT_A_PERSON = "Who is calling is not a signed-in person: nothing is read and nothing kept."


def person_of(caller: Caller) -> str:
    """The person whose memories a caller reaches: its own uid, or the owner for the machine. Raises NotAllowed."""
    match caller:
        case Person(uid=uid):
            return uid
        case Machine(owner=owner):
            return owner
        case Nobody():
            raise NotAllowed(NOT_A_PERSON)


def scope_of(caller: Caller, application: str) -> Scope:
    """The scope of a caller in one application (its key). Raises NotAllowed, also for a key bound to another one."""
    person = person_of(caller)
    if isinstance(caller, Person) and caller.application not in (None, application):
        raise NotAllowed("This key is bound to another application.")
    return Scope(person, application)


def reach_of(caller: Caller) -> Scope | Everything:
    """All that a caller reaches: the one application of a bound key, or all of the person's. Raises NotAllowed."""
    person = person_of(caller)
    if isinstance(caller, Person) and caller.application is not None:
        return Scope(person, caller.application)
    return Everything(person)
