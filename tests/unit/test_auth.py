"""Every credential that comes is read in one place; who sends none, or is no person, is refused by default."""

from __future__ import annotations

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient
from multidict import CIMultiDict

from shared.errors import BadValue, NotAllowed, NotAuthenticated, ServiceError
from shared.http.auth import CHALLENGE, Authenticator, Proof, answers_nobody, authenticating
from shared.http.keys import CALLER, CREDENTIAL
from shared.tokens import Machine, Nobody, Person
from shared.verifier import TokenVerifier
from tests.unit.test_tokens import SECRET, claims, signed

MACHINE = "machine-machine-machine-machine-0123456789"
PEER = "203.0.113.7"


class Keys:
    """Two API keys: a plain one bound to an application, and one that may impersonate."""

    async def verify(self, key: str) -> Person | None:
        if key == "m0-plain":
            return Person("kim", actor="kim", via="key", application="app:one")
        if key == "m0-service":
            return Person("svc", actor="svc", via="key", scopes=frozenset({"users:impersonate", "platform_admin"}))
        return None


def authenticator(**changes: object) -> Authenticator:
    known = {"keys": Keys(), "machine_token": MACHINE, "owner": "owner-1", **changes}
    return Authenticator(tokens=TokenVerifier(secret=SECRET), **known)  # type: ignore[arg-type]  # test values


async def prove(*headers: tuple[str, str], peer: str | None = PEER, **changes: object) -> Proof:
    return await authenticator(**changes).prove(CIMultiDict(headers), peer)


def test_a_machine_token_that_can_be_guessed_is_refused():
    with pytest.raises(ValueError, match="32 bytes"):
        authenticator(machine_token="x" * 31)


async def test_the_machine_token_is_the_owner_and_is_never_sent_on():
    assert await prove(("Authorization", f"Bearer {MACHINE}")) == Proof(Machine("owner-1"), {})


@pytest.mark.parametrize("wrong", [MACHINE[:-1], MACHINE + "x", MACHINE.upper(), "é" * 40, "\udcff" * 40])
async def test_what_is_almost_the_machine_token_is_refused(wrong):
    with pytest.raises(NotAuthenticated):
        await prove(("Authorization", f"Bearer {wrong}"))


async def test_the_machine_token_without_an_owner_is_refused():
    with pytest.raises(NotAuthenticated):
        await prove(("Authorization", f"Bearer {MACHINE}"), owner=None)


@pytest.mark.parametrize(
    "header",
    [
        ("Authorization", "Token m0-plain"),
        ("authorization", "token  m0-plain"),
        ("X-API-Key", "m0-plain"),
        ("Authorization", "Bearer m0-plain"),
    ],
)
async def test_an_api_key_is_its_owner_and_is_sent_on_as_it_came(header):
    proof = await prove(header)

    assert proof.caller == Person("kim", actor="kim", via="key", application="app:one")
    assert list(proof.credential.values()) == [header[1]]


@pytest.mark.parametrize(
    "header",
    [
        ("Authorization", "Token m0-other"),
        ("X-API-Key", ""),
        ("X-API-Key", "x" * 9000),
        ("Authorization", ""),
        ("Authorization", "Basic a2ltOg=="),
        ("Authorization", "Bearer"),
        ("Authorization", "m0-plain"),
    ],
)
async def test_a_key_that_is_unknown_empty_or_of_another_scheme_is_refused(header):
    with pytest.raises(NotAuthenticated):
        await prove(header, peer="127.0.0.1", trust_loopback=True)


async def test_without_a_key_store_every_key_is_refused():
    with pytest.raises(NotAuthenticated):
        await prove(("X-API-Key", "m0-plain"), keys=None)


async def test_two_credentials_are_refused_even_when_both_hold():
    one = ("Authorization", "Bearer " + signed(claims()))
    for other in (one, ("X-API-Key", "m0-plain"), ("Authorization", "Token m0-plain")):
        with pytest.raises(NotAuthenticated):
            await prove(one, other)


@pytest.mark.field("B98")
@pytest.mark.parametrize(
    "credential", [("X-API-Key", "m0-service"), ("X-API-Key", "m0-plain"), ("Authorization", "Bearer " + MACHINE)]
)
@pytest.mark.parametrize(
    "uids", [[""], ["   "], ["*"], ["a b"], ["ana", "bob"], ["ana", "ana"], ["a\udcff"], ["x" * 256]]
)
async def test_a_person_who_cannot_be_is_a_bad_value_before_any_permission_is_asked(credential, uids):
    with pytest.raises(BadValue):
        await prove(credential, *(("X-On-Behalf-Of", uid) for uid in uids))


@pytest.mark.field("B98")
async def test_a_key_with_the_scope_acts_for_a_person_and_stays_known_as_the_actor():
    proof = await prove(("X-API-Key", "m0-service"), ("X-On-Behalf-Of", "ana"))

    assert proof.caller == Person("ana", actor="svc", via="key", scopes=frozenset({"users:impersonate"}))
    assert proof.credential == {"X-API-Key": "m0-service", "X-On-Behalf-Of": "ana"}


@pytest.mark.field("B98")
@pytest.mark.parametrize("credential", ["m0-plain", MACHINE, "token", "admin", "visitor"])
async def test_nobody_else_acts_for_a_person(credential):
    tokens = {
        "token": signed(claims()),
        "admin": signed(claims(roles=["platform_admin", "users:impersonate"])),
        "visitor": signed(claims(anonymous=True)),
    }
    with pytest.raises(NotAllowed):
        await prove(("Authorization", "Bearer " + tokens.get(credential, credential)), ("X-On-Behalf-Of", "bob"))


async def test_to_act_for_a_person_takes_a_credential():
    with pytest.raises(NotAuthenticated):
        await prove(("X-On-Behalf-Of", "bob"), peer=PEER)


LOCAL = ("Host", "127.0.0.1:8765")


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost", "LOCALHOST:8765", "[::1]:8765"])
async def test_a_trusted_loopback_is_the_machine(peer, host):
    assert (await prove(("Host", host), peer=peer, trust_loopback=True)).caller == Machine("owner-1")


@pytest.mark.parametrize("peer", ["203.0.113.7", "::ffff:203.0.113.7", "10.0.0.1", None, "", "localhost"])
async def test_another_machine_is_nobody(peer):
    assert (await prove(LOCAL, peer=peer, trust_loopback=True)).caller == Nobody("none")


@pytest.mark.parametrize(
    "name",
    ["X-Forwarded-For", "x-forwarded-for", "Forwarded", "X-Real-IP", "Via", "X-Forwarded-Proto", "CF-Connecting-IP"],
)
async def test_what_came_through_a_proxy_is_nobody(name):
    assert (await prove(LOCAL, (name, "127.0.0.1"), peer="127.0.0.1", trust_loopback=True)).caller == Nobody("none")


@pytest.mark.parametrize(
    "headers",
    [
        [("Host", "evil.example:8765")],
        [],
        [("Host", "[")],
        [LOCAL, ("Origin", "https://evil.example")],
        [LOCAL, ("Origin", "null")],
        [LOCAL, ("Origin", "http://localhost:3000")],
        [LOCAL, ("Sec-Fetch-Site", "cross-site")],
        [LOCAL, ("Sec-Fetch-Site", "same-site")],
    ],
)
async def test_a_web_page_is_not_the_machine(headers):
    assert (await prove(*headers, peer="127.0.0.1", trust_loopback=True)).caller == Nobody("none")


async def test_the_services_own_page_is_the_machine():
    headers = [LOCAL, ("Origin", "http://127.0.0.1:8765"), ("Sec-Fetch-Site", "same-origin")]
    assert (await prove(*headers, peer="127.0.0.1", trust_loopback=True)).caller == Machine("owner-1")


async def test_loopback_is_not_trusted_unless_asked_for_and_never_passes_over_a_bad_credential():
    assert (await prove(LOCAL, peer="127.0.0.1")).caller == Nobody("none")
    with pytest.raises(NotAuthenticated):
        await prove(LOCAL, ("Authorization", "Bearer a.b.c"), peer="127.0.0.1", trust_loopback=True)


def test_a_proof_never_shows_its_credential():
    assert "secret" not in repr(Proof(Nobody("none"), {"Authorization": "Bearer secret"}))


async def who(request: web.Request) -> web.Response:
    caller = request[CALLER]
    return web.json_response({"who": type(caller).__name__, "sends": sorted(request[CREDENTIAL])})


@answers_nobody
async def tool(request: web.Request) -> web.Response:
    return await who(request)


async def health(_: web.Request) -> web.Response:
    return web.json_response({"ok": True})


@web.middleware
async def plain_errors(request: web.Request, handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except ServiceError as error:
        return web.json_response({"detail": error.sentence}, status=error.status, headers=error.headers)


@pytest.fixture
async def client(aiohttp_client) -> TestClient:
    app = web.Application(middlewares=[plain_errors, authenticating(authenticator())])
    app.add_routes([web.get("/memories", who), web.post("/tool", tool), web.get("/healthz", health)])
    return await aiohttp_client(app)


@pytest.mark.field("B10")
@pytest.mark.parametrize("path", ["/memories", "/unknown", "/healthz/x", "/x/healthz", "/healthz%2F..%2Fmemories"])
async def test_every_path_that_is_not_open_refuses_nobody(client, path):
    answer = await client.get(path)

    assert answer.status == 401
    assert answer.headers["WWW-Authenticate"] == CHALLENGE["WWW-Authenticate"]
    assert (await answer.json())["detail"] == "Who is calling is not said: send a token."


@pytest.mark.parametrize("path", ["/memories", "/tool", "/unknown"])
async def test_a_bad_token_is_refused_everywhere(client, path):
    answer = await client.post(path, headers={"Authorization": "Bearer " + signed(claims(exp=5))})

    assert answer.status == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"


async def test_a_known_visitor_who_is_no_person_is_refused_with_403(client):
    for flag in ("anonymous", "embed"):
        answer = await client.get("/memories", headers={"Authorization": "Bearer " + signed(claims(**{flag: True}))})
        assert answer.status == 403


async def test_a_person_reaches_a_handler_and_nobody_one_that_is_marked(client):
    person = {"Authorization": "Bearer " + signed(claims())}

    assert await (await client.get("/memories", headers=person)).json() == {"who": "Person", "sends": ["Authorization"]}
    assert await (await client.post("/tool")).json() == {"who": "Nobody", "sends": []}
    assert (await client.get("/unknown", headers=person)).status == 404
    assert (await client.get("/healthz", headers={"Authorization": "Bearer x"})).status == 200
    assert (await client.get("/healthz")).status == 200
