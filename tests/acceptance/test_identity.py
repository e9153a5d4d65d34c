"""Who is calling, by each setting that says how it is proved."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from pathlib import Path

import jwt
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from cryptography.hazmat.primitives.asymmetric import ed25519

from runtime_svc.app import create_app
from runtime_svc.keeping import for_this_machine
from runtime_svc.settings import RuntimeSettings
from shared.verifier import issue
from tests.services import OWNER, Service, bearer, start_runtime, token

APP = "/api/v1/apps/memories/desk"
KEY = ed25519.Ed25519PrivateKey.generate()


def issued(uid: str, **claims: object) -> dict[str, str]:
    every = {"uid": uid, "exp": int(time.time()) + 60, "iss": "https://iam.example", "aud": "memory", **claims}
    return {"Authorization": "Bearer " + jwt.encode(every, KEY, algorithm="EdDSA", headers={"kid": "k1"})}


@pytest.fixture
async def issuer() -> AsyncIterator[TestServer]:
    async def keys(_: web.Request) -> web.Response:
        key = jwt.algorithms.OKPAlgorithm.to_jwk(KEY.public_key(), as_dict=True)
        return web.json_response({"keys": [{**key, "kid": "k1", "key_ops": ["verify"]}]})

    app = web.Application()
    app.router.add_get("/jwks", keys)
    async with TestServer(app) as server:
        yield server


@pytest.fixture
async def runtime_of_issuer(
    settings_environment: pytest.MonkeyPatch, database: str, issuer: TestServer
) -> AsyncIterator[Service]:
    settings_environment.setenv("MEMORY_JWKS_URL", str(issuer.make_url("/jwks")))
    settings_environment.setenv("MEMORY_JWT_ISSUER", "https://iam.example")
    settings_environment.setenv("MEMORY_JWT_AUDIENCE", "memory")
    settings_environment.delenv("MEMORY_JWT_SECRET")
    service = await start_runtime(database)
    yield service
    await service.client.close()


async def test_the_tokens_of_an_issuer_are_people(runtime_of_issuer: Service) -> None:
    runtime = runtime_of_issuer
    assert (await runtime.post(APP, json={"memory": "tea", "wait": True}, uid=None, headers=issued("ana")))[0] == 200

    assert (await runtime.get(APP, uid=None, headers=issued("ana")))[1]["count"] == 1
    assert (await runtime.get(APP, uid=None, headers=issued("bob")))[1]["count"] == 0
    assert (await runtime.get(APP, uid=None, headers=issued("ana", embed=True)))[0] == 403


async def test_a_token_of_another_issuer_or_audience_or_by_a_secret_is_refused(runtime_of_issuer: Service) -> None:
    for headers in (
        issued("ana", iss="https://else.example"),
        issued("ana", aud="else"),
        issued("ana", aud=["memory", "else"]),
        bearer("ana", iss="https://iam.example", aud="memory"),
    ):
        assert (await runtime_of_issuer.get(APP, uid=None, headers=headers))[0] == 401


async def test_while_no_keys_could_be_read_a_token_is_answered_503_and_health_200(
    runtime_of_issuer: Service, issuer: TestServer
) -> None:
    await issuer.close()

    status, said = await runtime_of_issuer.get(APP, uid=None, headers=issued("ana"))
    assert status == 503
    assert "keys of its issuer" in said["detail"]
    assert (await runtime_of_issuer.get("/healthz", uid=None, headers=issued("ana")))[0] == 200
    assert (await runtime_of_issuer.get(APP, uid=None))[0] == 401


async def test_a_trusted_loopback_is_the_owner_and_a_proxy_or_a_web_page_on_it_is_not(
    settings_environment: pytest.MonkeyPatch, database: str
) -> None:
    settings_environment.setenv("RUNTIME_TRUST_LOOPBACK", "1")
    runtime = await start_runtime(database)
    try:
        await runtime.post(APP, json={"memory": "tea", "wait": True}, uid=OWNER)

        assert (await runtime.get(APP, uid=None))[1]["count"] == 1
        for headers in (
            {"X-Forwarded-For": "127.0.0.1"},
            {"Forwarded": "for=127.0.0.1"},
            {"Origin": "https://evil.example"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Host": "evil.example"},
        ):
            assert (await runtime.get(APP, uid=None, headers=headers))[0] == 401, headers
        assert (await runtime.get(APP, uid=None, headers={"Authorization": "Bearer x"}))[0] == 401
        assert (await runtime.get(APP, uid="bob"))[1]["count"] == 0
    finally:
        await runtime.client.close()


async def test_without_that_setting_loopback_is_nobody(runtime: Service) -> None:
    assert (await runtime.get(APP, uid=None))[0] == 401


async def test_no_token_stands_in_an_answer_or_a_log(runtime: Service, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = token("ana"), token("ana", secret="x" * 40)
    said = [
        await runtime.get(APP, uid=None, headers={"Authorization": f"Bearer {one}", **more})
        for one in (good, bad)
        for more in ({}, {"X-On-Behalf-Of": "bob"}, {"X-API-Key": bad})
    ]

    output = json.dumps(said) + capsys.readouterr().out
    for one in (good, bad):
        assert one not in output
        assert one.rpartition(".")[2] not in output


async def test_where_nothing_is_configured_this_machine_and_the_person_of_a_token_read_their_own(
    settings_environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("MEMORY_JWT_SECRET", "DATALAYER_USER_UID", "RUNTIME_MACHINE_TOKEN", "RUNTIME_SHARES"):
        settings_environment.delenv(name)
    settings_environment.setenv("AGENT_RUNTIMES_MEM0_DIR", str(tmp_path / "store"))
    settings = for_this_machine(RuntimeSettings.read(), "127.0.0.1", embedded=False)
    client = TestClient(TestServer(create_app(settings)))
    await client.start_server()
    runtime = Service(client)
    try:
        secret = tmp_path / "store" / "jwt.secret"
        assert secret.stat().st_mode & 0o777 == 0o600
        ana = {"uid": None, "headers": {"Authorization": f"Bearer {issue(secret.read_text(), 'ana', 60)}"}}
        for caller, words in (({"uid": None}, "the owner likes tea"), (ana, "ana likes tea")):
            assert (await runtime.post(APP, json={"memory": words, "wait": True}, **caller))[0] == 200
            _, said = await runtime.post(f"{APP}/search", json={"query": "tea"}, **caller)
            assert [memory["memory"] for memory in said["memories"]] == [words]
            assert "unread" not in said
    finally:
        await client.close()


def test_elsewhere_nothing_is_filled_in(settings_environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings_environment.setenv("AGENT_RUNTIMES_MEM0_DIR", str(tmp_path / "store"))
    settings_environment.delenv("RUNTIME_SHARES")
    configured = RuntimeSettings.read()
    assert for_this_machine(configured, "127.0.0.1", embedded=False) is configured
    settings_environment.delenv("MEMORY_JWT_SECRET")
    bare = RuntimeSettings.read()
    assert for_this_machine(bare, "0.0.0.0", embedded=False) is bare  # noqa: S104  # the case: not this machine alone
    assert for_this_machine(bare, "127.0.0.1", embedded=True) is bare
    assert not (tmp_path / "store").exists()
