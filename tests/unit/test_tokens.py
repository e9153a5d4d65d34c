"""A credential becomes a value once: a person, the machine, or nobody."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import BadValue, NotAllowed, NotAuthenticated
from shared.scope import Everything, Scope
from shared.tokens import Machine, Nobody, Person, VerifiedClaims, caller_of, reach_of, scope_of
from shared.verifier import TokenVerifier, issue

SECRET = "unit-secret-unit-secret-unit-secret-0123456789"


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def signed(claims: object, *, header: object = None, secret: str = SECRET) -> str:
    """A token made by hand, so that it may say what no library would write."""
    head = b64(json.dumps(header or {"alg": "HS256", "typ": "JWT"}).encode()) + "." + b64(json.dumps(claims).encode())
    return head + "." + b64(hmac.new(secret.encode(), head.encode(), hashlib.sha256).digest())


def claims(**changes: object) -> dict[str, object]:
    now = int(time.time())
    every = {"sub": "ana", "uid": "ana", "iat": now, "exp": now + 60, **changes}
    return {name: value for name, value in every.items() if value is not ...}


async def bearer(token: str) -> Person | Nobody:
    return caller_of(await TokenVerifier(secret=SECRET).verify(token))


async def check_refused(token: str, **changes: object) -> None:
    verifier = TokenVerifier(secret=SECRET, **changes)  # type: ignore[arg-type]  # test values
    with pytest.raises(NotAuthenticated) as caught:
        caller_of(await verifier.verify(token))
    assert len(token) < 30 or token not in str(caught.value)


async def test_a_signed_token_is_its_uid():
    assert await bearer(signed(claims(sub="other"))) == Person("ana", actor="ana", via="jwt")


async def test_a_token_that_was_believed_is_refused_once_it_has_ended(monkeypatch):
    clock = SimpleNamespace(time=time.time)
    monkeypatch.setattr("shared.verifier.time", clock)
    verifier, ends = TokenVerifier(secret=SECRET), int(time.time()) + 60
    ends_soon = signed(claims(exp=ends))
    for clock.time in (time.time, lambda: ends - 0.001):
        assert caller_of(await verifier.verify(ends_soon)) == Person("ana", actor="ana", via="jwt")
    clock.time = lambda: float(ends)

    with pytest.raises(NotAuthenticated):
        await verifier.verify(ends_soon)


async def test_a_token_that_was_believed_lends_nothing_to_another():
    verifier = TokenVerifier(secret=SECRET)
    believed = signed(claims())
    await verifier.verify(believed)
    head, _, signature = believed.split(".")

    with pytest.raises(NotAuthenticated):
        await verifier.verify(f"{head}.{b64(json.dumps(claims(uid='ben')).encode())}.{signature}")


async def test_what_a_believed_token_says_is_changed_by_nobody_who_reads_it():
    said = await TokenVerifier(secret=SECRET).verify(signed(claims()))

    with pytest.raises(TypeError):
        said["uid"] = "ben"


async def test_without_a_uid_the_subject_is_the_person():
    assert await bearer(signed(claims(uid=...))) == Person("ana", actor="ana", via="jwt")
    assert await bearer(signed(claims(uid=None))) == Person("ana", actor="ana", via="jwt")


@pytest.mark.field("S1")
@pytest.mark.parametrize(
    "uid",
    ["*", "", " ", " ana", "ana ", "a b", "a\tb", "a\u00a0b", "a\x00b", "a\ud800", "a" * 256, 5, True, [], {}, ["ana"]],
)
async def test_an_unusable_uid_is_nobody_in_disguise_and_refused(uid):
    await check_refused(signed(claims(uid=uid)))
    await check_refused(signed(claims(uid=..., sub=uid)))


@pytest.mark.parametrize("uid", ["ana", "ANA", "ana%", "ana_", "app:one", "jé\u0301", "日本", "👩‍👩‍👧", "a" * 255])
async def test_a_usable_uid_is_taken_as_it_is(uid):
    assert (await bearer(signed(claims(uid=uid)))).uid == uid


@pytest.mark.field("B97")
@pytest.mark.parametrize(
    "exp", [..., None, "9999999999", 9999999999.5, float("1e300"), 10**12, -1, True, [9999999999], -(10**30), 10**4000]
)
async def test_a_token_that_does_not_end_in_whole_seconds_is_refused(exp):
    await check_refused(signed(claims(exp=exp)))


@pytest.mark.field("B97")
@pytest.mark.parametrize("late", [-1, 0, -3600])
async def test_an_expired_token_is_refused_to_the_second(late):
    await check_refused(signed(claims(exp=int(time.time()) + late)))


@pytest.mark.field("B97")
@pytest.mark.parametrize("claim", ["iat", "nbf"])
async def test_a_clock_two_seconds_ahead_is_forgiven_and_a_minute_is_not(claim):
    now = int(time.time())

    assert (await bearer(signed(claims(**{claim: now + 2})))).uid == "ana"
    await check_refused(signed(claims(**{claim: now + 60})))
    await check_refused(signed(claims(**{claim: "soon"})))


@pytest.mark.field("B97")
@pytest.mark.parametrize("audience", ["theirs", ["ours", "theirs"], ["theirs"], [], None, ..., 5, {"ours": 1}])
async def test_a_token_for_another_or_for_several_audiences_is_refused(audience):
    await check_refused(signed(claims(aud=audience)), audience="ours")


async def test_a_token_for_our_audience_from_our_issuer_holds():
    verifier = TokenVerifier(secret=SECRET, audience="ours", issuer="https://iam")
    for audience in ("ours", ["ours"]):
        assert (await verifier.verify(signed(claims(aud=audience, iss="https://iam"))))["uid"] == "ana"


async def test_another_issuer_is_refused():
    await check_refused(signed(claims(iss="https://else")), issuer="https://iam")
    await check_refused(signed(claims()), issuer="https://iam")


@pytest.mark.field("B97")
@pytest.mark.parametrize(
    "algorithm", ["none", "None", "HS384", "HS512", "RS256", "ES256", "EdDSA", "PS256", "", None, 5, ["HS256"], "hs256"]
)
async def test_only_the_algorithm_that_the_secret_is_for_is_believed(algorithm):
    await check_refused(signed(claims(), header={"alg": algorithm, "typ": "JWT"}))
    await check_refused(signed(claims(), header={"alg": algorithm, "typ": "JWT"}).rpartition(".")[0] + ".")


async def test_a_foreign_secret_and_a_changed_payload_are_refused():
    await check_refused(signed(claims(), secret="x" * 40))
    head, _, signature = signed(claims()).split(".")
    await check_refused(f"{head}.{b64(json.dumps(claims(uid='bob')).encode())}.{signature}")


@pytest.mark.parametrize(
    "header",
    [
        {"alg": "HS256", "crit": ["exp"]},
        {"alg": "HS256", "crit": []},
        {"alg": "HS256", "b64": False},
        {"alg": "HS256", "kid": 5},
    ],
)
async def test_a_header_that_asks_for_what_is_not_understood_is_refused(header):
    await check_refused(signed(claims(), header=header))


@pytest.mark.parametrize("payload", [[], "ana", 5, None, [{"uid": "ana"}]])
async def test_a_payload_that_is_no_object_is_refused(payload):
    await check_refused(signed(payload))


async def test_a_deep_payload_is_refused():
    head = b64(b'{"alg":"HS256"}') + "." + b64(b"[" * 4000)
    await check_refused(head + "." + b64(hmac.new(SECRET.encode(), head.encode(), hashlib.sha256).digest()))


@given(st.one_of(st.text(), st.from_regex(r"[A-Za-z0-9_\-]{0,40}(\.[A-Za-z0-9_\-]{0,40}){0,4}", fullmatch=True)))
async def test_garbage_is_refused_and_never_an_error(token):
    await check_refused(token)


async def test_without_a_secret_and_without_keys_no_token_holds():
    with pytest.raises(NotAuthenticated):
        await TokenVerifier().verify(signed(claims()))
    with pytest.raises(NotAuthenticated):
        await TokenVerifier().verify(signed(claims(), secret=""))


def test_a_short_secret_is_refused():
    with pytest.raises(ValueError, match="32 bytes"):
        TokenVerifier(secret="x" * 31)
    with pytest.raises(ValueError, match="32 bytes"):
        issue("x" * 31, "ana", 60)


async def test_an_issued_token_is_the_person_for_as_long_as_it_says():
    assert (await bearer(issue(SECRET, "ana", 60))).uid == "ana"
    with pytest.raises(ValueError, match="one second"):
        issue(SECRET, "ana", 0)
    with pytest.raises(BadValue):
        issue(SECRET, "*", 60)


async def test_a_token_over_8_kib_is_refused():
    await check_refused(signed(claims(more="x" * 8192)))


@pytest.mark.parametrize(
    ("flag", "value"), [("anonymous", True), ("embed", True), ("anonymous", "false"), ("embed", 1)]
)
async def test_an_anonymous_visitor_or_an_embed_is_nobody(flag, value):
    assert await bearer(signed(claims(**{flag: value}))) == Nobody(flag)


async def test_a_flag_that_says_no_makes_no_visitor():
    assert (await bearer(signed(claims(anonymous=False, embed=None)))).uid == "ana"


def test_only_the_listed_role_makes_an_administrator():
    for roles, scopes in (
        (["platform_admin"], {"platform_admin"}),
        ("platform_admin", set()),
        (["admin", 5], set()),
        ({"platform_admin": 1}, set()),
    ):
        caller = caller_of(VerifiedClaims({"uid": "ana", "roles": roles}))
        assert isinstance(caller, Person)
        assert caller.scopes == scopes


def test_a_bound_key_reaches_its_own_application_only():
    key = Person("kim", actor="kim", via="key", application="app:one")

    assert scope_of(key, "app:one") == Scope("kim", "app:one")
    assert reach_of(key) == Scope("kim", "app:one")
    assert reach_of(Machine("owner-1")) == Everything("owner-1")
    with pytest.raises(NotAllowed):
        scope_of(key, "app:two")
    with pytest.raises(NotAllowed):
        scope_of(Nobody("embed"), "app:one")
