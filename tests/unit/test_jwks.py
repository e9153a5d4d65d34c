"""An issuer's keys are fetched once for all, kept through an outage, and followed when they change."""

from __future__ import annotations

import asyncio
import json
import time

import jwt
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa

from shared.errors import NotAuthenticated, Unavailable
from shared.jwks import KeySet, usable_keys
from shared.verifier import TokenVerifier
from tests.waiting import FOR_EVER, Gate

PRIVATE = {
    "RS256": rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
}
CLASSES = {
    "RS256": jwt.algorithms.RSAAlgorithm,
    "ES256": jwt.algorithms.ECAlgorithm,
    "EdDSA": jwt.algorithms.OKPAlgorithm,
}


def public(algorithm: str, kid: str | None = None, **more: object) -> dict[str, object]:
    jwk = CLASSES[algorithm].to_jwk(PRIVATE[algorithm].public_key(), as_dict=True)
    jwk.pop("key_ops", None)
    return {**jwk, **({} if kid is None else {"kid": kid}), **more}


def token(algorithm: str, kid: str | None = None, **changes: object) -> str:
    claims = {"uid": "ana", "exp": int(time.time()) + 60, **changes}
    return jwt.encode(claims, PRIVATE[algorithm], algorithm=algorithm, headers=None if kid is None else {"kid": kid})


def of_another_curve(algorithm: str, key) -> dict[str, object]:
    """A key that says it is for an algorithm, and is of a curve that the algorithm is not for."""
    jwk = CLASSES[algorithm].to_jwk(key.public_key(), as_dict=True)
    return {**jwk, "kid": "curve", "alg": algorithm, "key_ops": ["verify"]}


class Issuer:
    """A real HTTP server that publishes keys, and can be held, broken or gone."""

    def __init__(self) -> None:
        self.document: object = {"keys": [public(algorithm, algorithm.lower()) for algorithm in PRIVATE]}
        self.status, self.gate, self.fetches = 200, Gate(), 0
        self.now = 1000.0

    async def answer(self, _: web.Request) -> web.Response:
        self.fetches += 1
        await self.gate.passed()
        body = self.document if isinstance(self.document, bytes) else json.dumps(self.document).encode()
        return web.Response(body=body, status=self.status, headers={"Location": "/jwks"} if self.status == 302 else {})


@pytest.fixture
async def issuer():
    return Issuer()


@pytest.fixture
async def keys(issuer):
    app = web.Application()
    app.add_routes([web.get("/jwks", issuer.answer)])
    async with TestServer(app) as server:
        found = KeySet(str(server.make_url("/jwks")), clock=lambda: issuer.now)
        yield found
        issuer.gate.let_go()
        await found.close()


@pytest.fixture
async def verifier(keys):
    return TokenVerifier(secret="unit-secret-unit-secret-unit-secret-0123456789", keys=keys)


@pytest.mark.parametrize("algorithm", list(PRIVATE))
async def test_each_allowed_algorithm_is_verified_by_its_published_key(verifier, algorithm):
    assert (await verifier.verify(token(algorithm, algorithm.lower())))["uid"] == "ana"
    assert (await verifier.verify(token(algorithm)))["uid"] == "ana"


async def test_without_a_kid_two_keys_of_one_algorithm_are_not_guessed_between(verifier, issuer):
    issuer.document = {"keys": [public("RS256", "one"), public("RS256", "two")]}
    with pytest.raises(NotAuthenticated):
        await verifier.verify(token("RS256"))


@pytest.mark.field("B97")
async def test_a_public_key_is_never_a_secret(verifier, issuer):
    pem = (
        PRIVATE["RS256"]
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    forged = jwt.PyJWS(algorithms=["HS256"])
    forged._algorithms["HS256"].prepare_key = lambda key: key
    body = json.dumps({"uid": "ana", "exp": int(time.time()) + 60}).encode()

    with pytest.raises(NotAuthenticated):
        await verifier.verify(forged.encode(body, pem, algorithm="HS256", headers={"kid": "rs256"}))
    with pytest.raises(NotAuthenticated):
        await verifier.verify(token("RS256", "rs256").replace(".", "x.", 1))


@pytest.mark.parametrize(("algorithm", "kid"), [("ES256", "rs256"), ("RS256", "eddsa"), ("EdDSA", "es256")])
async def test_a_key_of_another_algorithm_is_not_used(verifier, algorithm, kid):
    with pytest.raises(NotAuthenticated):
        await verifier.verify(token(algorithm, kid))


def test_secrets_encryption_keys_and_other_algorithms_are_left_out():
    rejected = [
        {"kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA", "kid": "a"},
        {"kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA", "kid": "a", "alg": "RS256"},
        public("RS256", "b", use="enc"),
        public("RS256", "c", alg="RS512"),
        public("ES256", "d", alg="RS256"),
        {**public("ES256", "e"), "crv": "P-384"},
        {"kty": "RSA", "kid": "f"},
        of_another_curve("ES256", ec.generate_private_key(ec.SECP384R1())),
        of_another_curve("EdDSA", ed448.Ed448PrivateKey.generate()),
        public("RS256") | {"kid": 5},
        "key",
        None,
        ["kty"],
    ]
    document = {"keys": [*rejected, public("EdDSA", "good", use="sig", alg="EdDSA")]}

    assert set(usable_keys(json.dumps(document).encode())) == {("EdDSA", "good")}


@pytest.mark.parametrize(
    "document", [b"", b"{", b"[]", b"null", b'{"keys": {}}', b'{"keys": []}', b"\xff", b"[" * 100_000]
)
def test_a_document_without_usable_keys_is_no_key_set(document):
    with pytest.raises((ValueError, RecursionError)):
        usable_keys(document)


async def test_fifty_callers_wait_for_one_fetch(verifier, issuer):
    issuer.gate.hold()
    callers = [asyncio.create_task(verifier.verify(token("EdDSA", "eddsa"))) for _ in range(50)]
    await issuer.gate.reached()
    assert not any(caller.done() for caller in callers)
    issuer.gate.let_go()
    await asyncio.gather(*callers)

    assert issuer.fetches == 1


async def test_a_caller_who_leaves_does_not_end_the_fetch_of_the_others(verifier, issuer):
    issuer.gate.hold()
    leaving = asyncio.create_task(verifier.verify(token("EdDSA", "eddsa")))
    staying = asyncio.create_task(verifier.verify(token("EdDSA", "eddsa")))
    await issuer.gate.reached()
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    issuer.gate.let_go()

    assert (await staying)["uid"] == "ana"
    assert issuer.fetches == 1


async def test_unknown_key_ids_cause_one_fetch_in_ten_seconds(verifier, issuer):
    await verifier.verify(token("EdDSA", "eddsa"))
    issuer.now += 11
    for kid in range(20):
        with pytest.raises(NotAuthenticated):
            await verifier.verify(token("EdDSA", f"unknown-{kid}"))

    assert issuer.fetches == 2


async def test_a_new_key_is_found_by_everyone_who_waits_for_it(verifier, issuer):
    await verifier.verify(token("EdDSA", "eddsa"))
    issuer.now += 11
    issuer.document = {"keys": [public("EdDSA", "new")]}
    issuer.gate.hold()
    callers = [asyncio.create_task(verifier.verify(token("EdDSA", "new"))) for _ in range(20)]
    await issuer.gate.reached()
    issuer.gate.let_go()

    assert [claims["uid"] for claims in await asyncio.gather(*callers)] == ["ana"] * 20
    assert issuer.fetches == 2
    with pytest.raises(NotAuthenticated):
        await verifier.verify(token("EdDSA", "eddsa"))


async def test_who_comes_while_a_new_key_is_fetched_waits_for_it_too(verifier, issuer):
    await verifier.verify(token("EdDSA", "eddsa"))
    issuer.now += 11
    issuer.document = {"keys": [public("EdDSA", "new")]}
    issuer.gate.hold()
    first = asyncio.create_task(verifier.verify(token("EdDSA", "new")))
    await issuer.gate.reached()
    second = asyncio.create_task(verifier.verify(token("EdDSA", "new")))
    await asyncio.sleep(0)  # it has looked for the key
    issuer.gate.let_go()

    assert (await second)["uid"] == "ana"
    assert (await first)["uid"] == "ana"
    assert issuer.fetches == 2


async def test_old_keys_are_refreshed_without_anybody_waiting(verifier, issuer):
    await verifier.verify(token("EdDSA", "eddsa"))
    issuer.now += 301
    issuer.gate.hold()

    async with asyncio.timeout(FOR_EVER):
        assert (await verifier.verify(token("EdDSA", "eddsa")))["uid"] == "ana"
    await issuer.gate.reached()
    assert issuer.fetches == 2


async def test_after_a_long_sleep_a_withdrawn_key_does_not_hold(verifier, issuer):
    await verifier.verify(token("EdDSA", "eddsa"))
    issuer.now += 86_400
    issuer.document = {"keys": [public("EdDSA", "new")]}
    with pytest.raises(NotAuthenticated):
        await verifier.verify(token("EdDSA", "eddsa"))


@pytest.mark.fault("The issuer of tokens is away", "the keys that were read last hold")
@pytest.mark.parametrize(
    ("status", "document"), [(500, b""), (200, b"{"), (200, b'{"keys":[]}'), (302, b""), (200, b" " * 300_000)]
)
async def test_the_keys_that_were_read_last_serve_through_an_outage(verifier, issuer, status, document):
    await verifier.verify(token("EdDSA", "eddsa"))
    issuer.now += 86_400
    issuer.status, issuer.document = status, document

    assert (await verifier.verify(token("EdDSA", "eddsa")))["uid"] == "ana"
    assert issuer.fetches == 2


async def test_keys_that_were_never_read_are_unavailable_and_are_read_when_they_can_be(verifier, issuer):
    issuer.status = 500
    for _ in range(5):
        with pytest.raises(Unavailable) as caught:
            await verifier.verify(token("EdDSA", "eddsa"))
    assert caught.value.status == 503
    assert issuer.fetches == 1

    issuer.status, issuer.now = 200, issuer.now + 1
    assert (await verifier.verify(token("EdDSA", "eddsa")))["uid"] == "ana"


async def test_an_issuer_that_is_gone_is_unavailable_and_the_secret_still_holds():
    keys = KeySet("http://127.0.0.1:1/jwks")
    secret = "unit-secret-unit-secret-unit-secret-0123456789"
    verifier = TokenVerifier(secret=secret, keys=keys)
    with pytest.raises(Unavailable):
        await verifier.verify(token("EdDSA", "eddsa"))

    own = jwt.encode({"uid": "bob", "exp": int(time.time()) + 60}, secret, algorithm="HS256")
    assert (await verifier.verify(own))["uid"] == "bob"


async def test_claims_are_checked_for_published_keys_too(verifier):
    with pytest.raises(NotAuthenticated):
        await verifier.verify(token("RS256", "rs256", exp=int(time.time()) - 1))


async def test_a_weak_published_key_is_not_believed(verifier, issuer):
    weak = rsa.generate_private_key(public_exponent=65537, key_size=1024)  # noqa: S505  # the weak key is the case
    jwk = jwt.algorithms.RSAAlgorithm.to_jwk(weak.public_key(), as_dict=True)
    issuer.document = {"keys": [{**jwk, "key_ops": ["verify"], "kid": "weak"}]}
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        signed = jwt.encode(
            {"uid": "ana", "exp": int(time.time()) + 60}, weak, algorithm="RS256", headers={"kid": "weak"}
        )
    with pytest.raises(NotAuthenticated):
        await verifier.verify(signed)
