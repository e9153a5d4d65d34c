"""Verifies bearer tokens: the signature by the secret or the issuer's keys, then the claims."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jwt
from cachetools import LRUCache

from shared.claims import checked, read
from shared.errors import NotAuthenticated
from shared.jwks import ALGORITHMS, KeySet
from shared.scope import person_uid
from shared.tokens import VerifiedClaims

LONGEST = 8192
"""Bytes of the longest credential that is looked at."""
SHORTEST_SECRET = 32
"""Bytes of the shortest secret that is accepted: what HS256 needs to be as strong as its hash."""

_BAD = "This token is not valid."
_REMEMBERED = 1024
"""Tokens whose signature is known to hold: a person's next request does not pay for it again."""


@dataclass(frozen=True, slots=True)
class _Believed:
    """That a key signed what a token says."""

    algorithm: str
    kid: str | None
    key: bytes | jwt.PyJWK
    claims: Mapping[str, Any]


class TokenVerifier:
    """Knows which signatures to believe: HS256 by a secret, RS256, ES256 and EdDSA by an issuer's keys.

    Raises ValueError for a secret that is too short. With neither a secret nor keys no token is valid.
    """

    def __init__(
        self,
        *,
        secret: str | None = None,
        keys: KeySet | None = None,
        audience: str | None = None,
        issuer: str | None = None,
    ) -> None:
        self._secret = None if secret is None else _strong(secret)
        self._keys = keys
        self._audience = audience
        self._issuer = issuer
        self._believed: LRUCache[bytes, _Believed] = LRUCache(_REMEMBERED)
        self._jws = jwt.PyJWS(algorithms=["HS256", *sorted(ALGORITHMS)], options={"enforce_minimum_key_length": True})

    async def verify(self, token: str) -> VerifiedClaims:
        """The claims of a token that holds. Raises NotAuthenticated; Unavailable when no keys could be read yet."""
        if len(token) > LONGEST or not token.isascii():
            raise NotAuthenticated(_BAD)
        digest = hashlib.sha256(token.encode()).digest()
        believed = self._believed.get(digest)
        # Only the signature is remembered, and only while its key is the one in use: times are looked at every time.
        if believed is None or await self._key(believed.algorithm, believed.kid) is not believed.key:
            believed = self._believed[digest] = await self._believe(token)
        return checked(believed.claims, now=time.time(), issuer=self._issuer, audience=self._audience)

    async def _believe(self, token: str) -> _Believed:
        algorithm, kid = self._header(token)
        key = await self._key(algorithm, kid)
        if key is None:
            raise NotAuthenticated(_BAD)
        try:
            # One algorithm, decided by where the key came from: a public key is never tried as a secret.
            payload = self._jws.decode(token, key, algorithms=[algorithm])
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise NotAuthenticated(_BAD) from error
        return _Believed(algorithm, kid, key, read(payload))

    def _header(self, token: str) -> tuple[str, str | None]:
        try:
            header: dict[str, Any] = self._jws.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError, RecursionError) as error:
            raise NotAuthenticated(_BAD) from error
        algorithm, kid = header.get("alg"), header.get("kid")
        if not isinstance(algorithm, str) or not isinstance(kid, str | None):
            raise NotAuthenticated(_BAD)
        return algorithm, kid

    async def _key(self, algorithm: str, kid: str | None) -> bytes | jwt.PyJWK | None:
        if algorithm == "HS256":
            return self._secret
        if algorithm in ALGORITHMS and self._keys is not None:
            return await self._keys.key(algorithm, kid)
        return None


def issue(secret: str, uid: str, ttl: int) -> str:
    """A development token for a person, valid for `ttl` seconds. Raises BadValue, ValueError."""
    if ttl < 1:
        raise ValueError("A token lasts at least one second.")
    now = int(time.time())
    claims = {"sub": person_uid(uid), "uid": uid, "iat": now, "exp": now + ttl}
    return jwt.encode(claims, _strong(secret), algorithm="HS256")


def _strong(secret: str) -> bytes:
    raw = secret.encode()
    if len(raw) < SHORTEST_SECRET:
        raise ValueError(f"The secret of tokens has at least {SHORTEST_SECRET} bytes.")
    return raw
