"""Who is calling a request: one default-deny middleware, and the reading of credentials that it uses."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from multidict import CIMultiDict, CIMultiDictProxy

from shared.errors import BadValue, NotAllowed, NotAuthenticated
from shared.http.keys import CALLER, CREDENTIAL
from shared.http.loopback import from_this_machine
from shared.http.session import session_token
from shared.tokens import NOT_A_PERSON, Caller, Machine, Nobody, Person, acting_for, caller_of
from shared.verifier import LONGEST, SHORTEST_SECRET, TokenVerifier

OPEN_PATHS = frozenset({"/healthz", "/readyz", "/metrics", "/openapi.json"})
"""Paths that say nothing of anybody: served without looking at a credential."""

NOT_SAID = "Who is calling is not said: send a token."
CHALLENGE = {"WWW-Authenticate": "Bearer"}
_NOT_VALID = "This credential is not valid."
_ON_BEHALF = "X-On-Behalf-Of"

_Handler = TypeVar("_Handler", bound=Handler)


class KeyVerifier(Protocol):
    """Knows the API keys."""

    async def verify(self, key: str) -> Person | None:
        """The owner of a key, with the key's scopes and application; None when it is unknown or ended."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A caller, and the headers that ask another service in that caller's own name."""

    caller: Caller
    credential: Mapping[str, str] = field(default_factory=dict, repr=False)


class Authenticator:
    """Turns a request's headers and peer into a caller. Every credential that came must hold; none is passed over."""

    def __init__(
        self,
        *,
        tokens: TokenVerifier,
        keys: KeyVerifier | None = None,
        machine_token: str | None = None,
        owner: str | None = None,
        trust_loopback: bool = False,
    ) -> None:
        """`owner` is the person whom the machine remembers as: without one there is no machine.

        Raises ValueError for a machine token that can be guessed.
        """
        if machine_token is not None and len(machine_token.encode()) < SHORTEST_SECRET:
            raise ValueError(f"The machine's token has at least {SHORTEST_SECRET} bytes.")
        self._tokens = tokens
        self._keys = keys
        self._machine_token = machine_token
        self._owner = owner
        self._trust_loopback = trust_loopback

    async def prove(
        self, headers: CIMultiDict[str] | CIMultiDictProxy[str], peer: str | None, *, session: str | None = None
    ) -> Proof:
        """Who is calling; `session` is the token of the memory page's cookie, when it counts as a credential.

        Raises NotAuthenticated, NotAllowed, BadValue, Unavailable.
        """
        caller, credential = await self._present(headers, peer, session)
        asked = headers.getall(_ON_BEHALF, [])
        if not asked:
            return Proof(caller, credential)
        if caller == Nobody("none"):
            raise NotAuthenticated(NOT_SAID)
        if len(asked) > 1:
            raise BadValue(f"{_ON_BEHALF} names one person.")
        person = acting_for(caller, asked[0])
        return Proof(person, {**credential, _ON_BEHALF: person.uid})

    async def sign_in(self, token: str) -> tuple[Person, int]:
        """The person of a token and until when it holds, for the memory page. Raises NotAuthenticated, NotAllowed.

        A token only: neither a key nor the machine's own token ever stands in a browser.
        """
        claims = await self._tokens.verify(token)
        caller = caller_of(claims)
        if isinstance(caller, Nobody):
            raise NotAllowed(NOT_A_PERSON)
        return caller, int(claims["exp"])

    async def _present(
        self, headers: CIMultiDict[str] | CIMultiDictProxy[str], peer: str | None, session: str | None
    ) -> tuple[Caller, dict[str, str]]:
        """The caller by the one credential that came, and that credential when it may be sent on."""
        sent = [(name, value) for name in ("Authorization", "X-API-Key") for value in headers.getall(name, [])]
        if len(sent) + (session is not None) > 1:
            raise NotAuthenticated("More than one credential came: send one.")
        if session is not None:
            return caller_of(await self._tokens.verify(session)), {"Authorization": f"Bearer {session}"}
        if not sent:
            return self._without_credential(headers, peer), {}
        name, value = sent[0]
        scheme, _, secret = ("key", "", value) if name == "X-API-Key" else value.strip().partition(" ")
        secret = secret.strip()
        if not secret or len(secret) > LONGEST:
            raise NotAuthenticated(_NOT_VALID)
        if self._owner is not None and self._is_machine(scheme, secret):
            return Machine(self._owner), {}
        return await self._person(scheme.lower(), secret), {name: value}

    async def _person(self, scheme: str, secret: str) -> Person | Nobody:
        # Clients of the OpenAI dialect send API keys as bearer tokens: those have no three parts.
        if scheme == "bearer" and secret.count(".") == 2:
            return caller_of(await self._tokens.verify(secret))
        found = None
        if scheme in ("bearer", "token", "key") and self._keys is not None:
            found = await self._keys.verify(secret)
        if found is None:
            raise NotAuthenticated(_NOT_VALID)
        return found

    def _is_machine(self, scheme: str, secret: str) -> bool:
        if scheme.lower() != "bearer" or self._machine_token is None:
            return False
        return hmac.compare_digest(
            secret.encode(errors="surrogateescape"), self._machine_token.encode(errors="surrogateescape")
        )

    def _without_credential(self, headers: Mapping[str, str], peer: str | None) -> Machine | Nobody:
        if self._trust_loopback and self._owner is not None and from_this_machine(headers, peer):
            return Machine(self._owner)
        return Nobody("none")


AUTHENTICATOR: web.AppKey[Authenticator] = web.AppKey("authenticator", Authenticator)
"""How this application knows its callers."""


def answers_nobody(handler: _Handler) -> _Handler:
    """Mark a handler that also answers nobody, in a sentence: the middleware lets nobody through to it."""
    handler.answers_nobody = True  # type: ignore[attr-defined]  # a mark on a function
    return handler


def authenticating(authenticator: Authenticator, open_paths: frozenset[str] = OPEN_PATHS) -> Middleware:
    """The middleware that sets the caller on each request, and refuses nobody: 401, or 403 for a known visitor.

    Only open paths and handlers marked with `answers_nobody` are reached by nobody; a path that does not exist is not
    told to them either. A credential that does not hold is refused everywhere but on the open paths.
    """

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path.rstrip("/") in open_paths:
            return await handler(request)
        proof = await _prove(authenticator, request)
        if isinstance(proof.caller, Nobody) and not getattr(request.match_info.handler, "answers_nobody", False):
            if proof.caller.why == "none":
                raise NotAuthenticated(NOT_SAID, headers=CHALLENGE)
            raise NotAllowed(NOT_A_PERSON)
        request[CALLER], request[CREDENTIAL] = proof.caller, proof.credential
        return await handler(request)

    return middleware


async def _prove(authenticator: Authenticator, request: web.Request) -> Proof:
    peer = request.transport.get_extra_info("peername") if request.transport is not None else None
    try:
        address = peer[0] if isinstance(peer, tuple) else None
        return await authenticator.prove(request.headers, address, session=session_token(request))
    except NotAuthenticated as error:
        raise NotAuthenticated(error.sentence, headers=CHALLENGE) from error
