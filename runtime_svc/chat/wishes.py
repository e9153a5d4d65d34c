"""What a client asks of memory in one conversation, beside the conversation itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from runtime_svc.appspecs import Appspecs
from runtime_svc.chat.conversation import Conversation
from shared.errors import BadValue
from shared.http.body import Body, bad_value
from shared.scope import application_of
from shared.tokens import Caller, Nobody, Person, scope_of


class Mem0Config(Body):
    """`mem0_config` of contract 003."""

    enabled: bool = True
    inject_memory_timestamps: bool = True


class _Said(Body):
    app_id: str | None = None
    learn: Literal["verbatim", "off"] | None = None
    mem0_config: Mem0Config | None = None


@dataclass(frozen=True, slots=True)
class Wishes:
    """In which application, with which memory, and what is learned."""

    application: str | None
    """Its key; None for nobody, of whom nothing is read or kept."""
    config: Mem0Config
    learn: Literal["verbatim", "off"] | None


def wishes(conversation: Conversation, caller: Caller, header: str | None, appspecs: Appspecs) -> Wishes:
    """What a request asks for, in its body or else in a header; what it leaves open its application's Appspec says.

    Raises BadValue, also when no application is named; NotAllowed for a key bound to another one.
    """
    said = _said(conversation)
    application = None if isinstance(caller, Nobody) else _application(caller, said.app_id or header)
    given = {} if said.mem0_config is None else said.mem0_config.model_dump(exclude_unset=True)
    settled = {} if application is None else appspecs.mem0_config(application)
    return Wishes(application, Mem0Config.model_validate({**settled, **given}), said.learn)


def _said(conversation: Conversation) -> _Said:
    try:
        return _Said.model_validate({name: value for name, value in conversation.said.items() if name != "messages"})
    except ValidationError as error:
        raise bad_value(error) from None


def _application(caller: Caller, named: str | None) -> str:
    """The application named, or else that of a bound key."""
    bound = caller.application if isinstance(caller, Person) else None
    key = bound if named is None else application_of(named)
    if key is None:
        raise BadValue("Which application is it? Say app_id, or the header X-App-Id, or use a key bound to one.")
    return scope_of(caller, key).application
