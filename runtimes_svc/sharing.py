"""Sharing: a person allows one application to use what another remembers of them, and stops it."""

from __future__ import annotations

from collections.abc import Sequence

from shared.errors import BadValue, NotAllowed, NotFound
from shared.scope import Everything, application_key
from shared.shares import Share, Shares
from shared.tokens import Caller, Person, person_of

_OWN_WORD = (
    "An allowance is the person's own word: it is given and ended with their own token or an unbound key of theirs."
)


async def list_shares(
    shares: Shares, caller: Caller, *, source: str | None = None, reader: str | None = None
) -> Sequence[Share]:
    """The caller's allowances, oldest first. Raises BadValue for a malformed key.

    Raises NotAllowed for a key bound to an application that asks for more than what that application may read.
    """
    person = Everything(person_of(caller))
    source = None if source is None else application_key(source)
    reader = None if reader is None else application_key(reader)
    if isinstance(caller, Person) and caller.application not in (None, reader):
        raise NotAllowed(
            "This key is bound to an application and reads what that one may read only: name it as reader."
        )
    return await shares.allowed(person, source=source, reader=reader)


async def allow(shares: Shares, caller: Caller, *, source: object, reader: object) -> Share:
    """Let `reader` use what `source` remembers of the caller; allowed again, it is kept as it was.

    Raises BadValue for a malformed key and for an application as its own reader, NotAllowed, Conflict.
    """
    person = _own_word(caller)
    source, reader = application_key(source), application_key(reader)
    if source == reader:
        raise BadValue("An application reads its own memories: it is not its own reader.")
    return await shares.allow(person, source=source, reader=reader)


async def stop(shares: Shares, caller: Caller, *, source: object, reader: object) -> None:
    """Stop sharing. Raises NotFound for what was never allowed, BadValue, NotAllowed."""
    person = _own_word(caller)
    if not await shares.stop(person, source=application_key(source), reader=application_key(reader)):
        raise NotFound("That was never allowed.")


def _own_word(caller: Caller) -> Everything:
    """Whose word it is. Who acts for a person, or for one application, does not give a person's word."""
    person = Everything(person_of(caller))
    if isinstance(caller, Person) and (caller.actor != caller.uid or caller.application is not None):
        raise NotAllowed(_OWN_WORD)
    return person
