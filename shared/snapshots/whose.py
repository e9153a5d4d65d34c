"""Whose memory, as a whole, a caller reaches."""

from __future__ import annotations

from shared.errors import NotAllowed
from shared.scope import Everything, person_uid
from shared.tokens import IMPERSONATE, PLATFORM_ADMIN, Caller, Person, person_of

BOUND = "This key is bound to one application, and that is not all that is remembered of you."
ANOTHERS = f"What is remembered of another person needs the scope {IMPERSONATE}, or an administrator."


def whose(caller: Caller, asked: str | None) -> Everything:
    """The caller's own, or that of the person asked for.

    Raises NotAllowed for another person without the scope for it, and for a key bound to an application; BadValue.
    """
    own = person_of(caller)
    if isinstance(caller, Person) and caller.application is not None:
        raise NotAllowed(BOUND)
    person = own if asked is None else person_uid(asked)
    scopes = caller.scopes if isinstance(caller, Person) else frozenset()
    if person != own and not scopes & {IMPERSONATE, PLATFORM_ADMIN}:
        raise NotAllowed(ANOTHERS)
    return Everything(person)
