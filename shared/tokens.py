"""Turns a credential into a value, once: who is calling, proved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NewType

from shared.errors import NotAllowed, NotAuthenticated
from shared.records import By, Door
from shared.scope import Everything, Scope, person_uid, unusable

VerifiedClaims = NewType("VerifiedClaims", Mapping[str, Any])
"""What a token says, after its signature and its times were checked. Made by `shared.verifier` only."""

IMPERSONATE = "users:impersonate"
"""The scope of a key that may act for another person."""

PLATFORM_ADMIN = "platform_admin"
"""The role of a token, and the scope of its person, that the platform's administrative reads ask for."""


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
"""Who is calling."""

NOT_A_PERSON = "Who is calling is not a signed-in person: nothing is read and nothing kept."


def caller_of(claims: VerifiedClaims) -> Person | Nobody:
    """The person of a verified token, its `uid` or else its `sub`; nobody for an anonymous or embedded visitor.

    Raises NotAuthenticated when what should identify the person cannot.
    """
    for why in ("anonymous", "embed"):
        # Anything but false makes nobody: a malformed flag must not turn a visitor into a person.
        if claims.get(why) not in (None, False):
            return Nobody(why)
    uid = claims["uid"] if claims.get("uid") is not None else claims.get("sub")
    if not isinstance(uid, str) or unusable(uid) is not None:
        raise NotAuthenticated("This token identifies no person.")
    roles = claims.get("roles")
    admin = isinstance(roles, list) and PLATFORM_ADMIN in roles
    return Person(uid, actor=uid, via="jwt", scopes=frozenset({PLATFORM_ADMIN} if admin else ()))


def acting_for(caller: Caller, uid: object) -> Person:
    """The person that a credential acts for: the record keeps both. What an administrator may is not passed on.

    Raises BadValue for an unusable uid, NotAllowed for a credential without the scope `users:impersonate`.
    """
    person = person_uid(uid)
    if not isinstance(caller, Person) or IMPERSONATE not in caller.scopes:
        raise NotAllowed(f"Acting for another person needs a key with the scope {IMPERSONATE}.")
    return replace(caller, uid=person, scopes=caller.scopes - {PLATFORM_ADMIN})


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


def by_of(caller: Caller, door: Door) -> By:
    """Who is recorded for what a caller does: the credential's owner. Raises NotAllowed for nobody."""
    if isinstance(caller, Person):
        return By(caller.actor, door, caller.application)
    return By(person_of(caller), door)
