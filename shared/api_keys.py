"""API keys: what a program presents in its owner's name. Shown once, kept as a hash."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from shared.errors import BadValue
from shared.scope import Everything
from shared.times import now
from shared.tokens import IMPERSONATE, Person
from shared.wording import check_text

SCOPES = frozenset({IMPERSONATE})
"""What an operator may give a key beyond its owner's own."""

MOST_KEYS = 100
"""How many one owner may have."""

_ID = re.compile(r"[0-9a-f]{16}")
_FORM = re.compile(rf"rmk_({_ID.pattern})_[A-Za-z0-9_-]{{43}}")
_NOTED_EVERY = timedelta(minutes=1)
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class ApiKey:
    """One key, without its secret."""

    id: str
    """Also the visible part of the key."""
    owner: str
    name: str
    application: str | None
    """The one application it is bound to; None when all of the owner's were asked for in so many words."""
    scopes: frozenset[str]
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None


class ApiKeys(Protocol):
    """The API keys of people. Every method may raise `Unavailable`."""

    async def keep(self, key: ApiKey, digest: bytes) -> None:
        """Keep a new one. Raises Conflict when its owner has too many."""

    async def of(self, owner: Everything) -> Sequence[ApiKey]:
        """An owner's, oldest first."""

    async def revoke(self, owner: Everything, key_id: str) -> bool:
        """End one of an owner's, at once; False when there is none."""

    async def find(self, key_id: str) -> tuple[ApiKey, bytes] | None:
        """A presented key's record, by its visible part, and the hash to compare with: not yet proved."""

    async def used(self, key: ApiKey, at: datetime) -> None:
        """Note the last use."""


def new_key(
    owner: str,
    name: str,
    *,
    application: str | None,
    scopes: frozenset[str] = frozenset(),
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """A new key and its text, to be shown once. Raises BadValue."""
    check_text(name, "name")
    if not name.strip() or len(name) > _LONGEST_NAME:
        raise BadValue(f"name says what the key is for, in at most {_LONGEST_NAME} characters.")
    created = now()
    if expires_at is not None and expires_at <= created:
        raise BadValue("expires_at is past.")
    if scopes - SCOPES:
        raise BadValue(f"A key's scopes are {', '.join(sorted(SCOPES))}.")
    key_id = secrets.token_hex(8)
    return ApiKey(key_id, owner, name, application, scopes, created, expires_at), (
        f"rmk_{key_id}_{secrets.token_urlsafe(32)}"
    )


def is_id(text: str) -> bool:
    """Whether a text can be the id of a key at all: what cannot is not asked of a store."""
    return _ID.fullmatch(text) is not None


def digest_of(text: str) -> bytes:
    """What is kept of a key. It has 256 random bits: a plain hash cannot be reversed by guessing."""
    return hashlib.sha256(text.encode(errors="surrogateescape")).digest()


class Keyring:
    """Proves presented keys. `keys` is asked at each use: the store may open after the edge is made."""

    def __init__(self, keys: Callable[[], ApiKeys]) -> None:
        self._keys = keys

    async def verify(self, key: str) -> Person | None:
        """The owner of a key, with the key's scopes and application; None when it is unknown or ended."""
        form = _FORM.fullmatch(key)
        found = None if form is None else await self._keys().find(form[1])
        if found is None or not hmac.compare_digest(found[1], digest_of(key)):
            return None
        record, at = found[0], now()
        if record.expires_at is not None and record.expires_at <= at:
            return None
        if record.last_used_at is None or record.last_used_at < at - _NOTED_EVERY:
            await self._keys().used(record, at)
        return Person(record.owner, actor=record.owner, via="key", scopes=record.scopes, application=record.application)
