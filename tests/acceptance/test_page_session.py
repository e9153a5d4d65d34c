"""The memory page's session: its cookie is a credential for the page's own requests, and for nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp.test_utils import TestClient

from tests.services import MACHINE, OWNER, Service, bearer, start_runtime, token

MARK = {"X-Requested-With": "memory-page"}
SESSION = "/memories/session"
MEMORIES = "/api/runtimes/v1/memories"


async def asked(client: TestClient, method: str, path: str, **more: Any) -> tuple[int, Any, Any]:
    async with client.request(method, path, **more) as response:
        return response.status, await response.json(), response.headers


async def sign_in(service: Service, said: object, **headers: str) -> tuple[int, Any, Any]:
    return await asked(service.client, "POST", SESSION, json={"token": said}, headers={**MARK, **headers})


def cookie(value: str, name: str = "memory-session") -> dict[str, str]:
    return {"Cookie": f"{name}={value}"}


async def test_signing_in_keeps_the_token_where_no_script_and_no_other_site_reads_it(platform: Service) -> None:
    status, said, headers = await sign_in(platform, f"  {token('ana', ttl=600)} ")

    assert (status, said["person"], said["service"]) == (200, "ana", "platform")
    assert "token" not in str(said)
    kept = headers["Set-Cookie"]
    assert kept.startswith(f"memory-session={token('ana')[:20]}")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(kept.split("; "))
    [age] = [int(part.removeprefix("Max-Age=")) for part in kept.split("; ") if part.startswith("Max-Age=")]
    assert 590 <= age <= 600
    assert "Secure" not in kept


async def test_over_https_the_cookie_is_secure_and_bound_to_the_host(platform: Service) -> None:
    forwarded = {"X-Forwarded-Proto": "https"}
    _, _, headers = await sign_in(platform, token("ana"), **forwarded)
    assert headers["Set-Cookie"].startswith("__Host-memory-session=")
    assert "; Secure" in headers["Set-Cookie"]
    assert "Domain" not in headers["Set-Cookie"]

    async def status(**sent: str) -> int:
        return (await asked(platform.client, "GET", MEMORIES, headers={**MARK, **sent}))[0]

    platform.client.session.cookie_jar.clear()
    assert await status(**forwarded, **cookie(token("ana"), "__Host-memory-session")) == 200
    assert await status(**forwarded, **cookie(token("ana"))) == 401


async def test_the_session_reads_and_writes_as_its_person(runtime: Service, platform: Service) -> None:
    await runtime.post("/api/v1/apps/memories/diary", json={"memory": "Likes tea", "wait": True}, uid="ana")
    await sign_in(platform, token("ana"))

    status, said, _ = await asked(platform.client, "GET", SESSION, headers=MARK)
    assert (status, said["person"]) == (200, "ana")
    status, said, _ = await asked(platform.client, "GET", MEMORIES, headers=MARK)
    assert [m["memory"] for m in said["memories"]] == ["Likes tea"]
    path = f"{MEMORIES}/{said['memories'][0]['id']}"
    status, said, _ = await asked(platform.client, "PATCH", path, json={"memory": "Likes oolong"}, headers=MARK)
    assert (status, said["memory"]["corrected_by"]) == (200, "ana")


@pytest.mark.parametrize(
    "foreign",
    [
        {},
        {"X-Requested-With": "XMLHttpRequest"},
        {"X-Requested-With": "memory-page, memory-page"},
        {**MARK, "Sec-Fetch-Site": "cross-site"},
        {**MARK, "Sec-Fetch-Site": "same-site"},
        {**MARK, "Sec-Fetch-Site": "none"},
        {**MARK, "Origin": "https://evil.example"},
        {**MARK, "Origin": "null"},
        {**MARK, "Origin": ""},
        {**MARK, "Origin": "http://127.0.0.1:1"},
        {**MARK, "Origin": "http://["},
        {**MARK, "Sec-Fetch-Site": "cross-site", "Origin": "http://HOST"},
    ],
)
async def test_to_what_is_not_the_page_the_cookie_is_nothing(platform: Service, foreign: dict[str, str]) -> None:
    host = f"{platform.client.host}:{platform.client.port}"
    headers = {name: value.replace("HOST", host) for name, value in foreign.items()} | cookie(token("ana"))

    for method, path in (
        ("GET", MEMORIES),
        ("DELETE", f"{MEMORIES}/x"),
        ("GET", SESSION),
        ("POST", "/api/memory/state"),
    ):
        assert (await asked(platform.client, method, path, headers=headers))[0] == 401
    for method in ("POST", "DELETE"):
        status, _, said = await asked(platform.client, method, SESSION, json={"token": token("ana")}, headers=headers)
        assert (status, "Set-Cookie" in said) == (403, False)


async def test_the_page_is_known_by_its_origin_where_the_browser_says_no_more(platform: Service) -> None:
    host = f"{platform.client.host}:{platform.client.port}"

    for said in (
        {},
        {"Origin": f"http://{host}"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://proxied.example"},
    ):
        headers = {**MARK, **said, **cookie(token("ana"))}
        assert (await asked(platform.client, "GET", MEMORIES, headers=headers))[0] == 200


async def test_a_session_is_a_signed_token_and_nothing_else(runtime: Service, platform: Service) -> None:
    _, made, _ = await asked(
        platform.client,
        "POST",
        "/api/runtimes/v1/api-keys",
        json={"name": "k", "all_applications": True},
        headers=bearer("ana"),
    )
    bad = [MACHINE, made["key"], "", "a.b.c", token("ana", ttl=-5), token("ana", secret="x" * 40)]
    for value in bad:
        assert (await sign_in(platform, value))[0] == 401
    for flag in ("anonymous", "embed"):
        assert (await sign_in(platform, token("ana", **{flag: True})))[0] == 403
    assert (await sign_in(platform, token("ana", padding="x" * 4000)))[0] == 422
    for value in (None, 5, ["x"], {}):
        assert (await sign_in(platform, value))[0] == 422

    for service in (runtime, platform):
        path = "/api/v1/apps/memory-receipts" if service is runtime else MEMORIES
        for value in (value for value in bad if value):
            assert (await asked(service.client, "GET", path, headers={**MARK, **cookie(value)}))[0] == 401


async def test_a_visitor_who_is_no_person_has_no_session(platform: Service) -> None:
    headers = {**MARK, **cookie(token("ana", anonymous=True))}

    assert (await asked(platform.client, "GET", MEMORIES, headers=headers))[0] == 403
    assert (await asked(platform.client, "GET", SESSION, headers=headers))[0] == 403


async def test_a_session_beside_another_credential_is_refused(platform: Service) -> None:
    headers = {**MARK, **cookie(token("ana")), **bearer("bob")}
    assert (await asked(platform.client, "GET", MEMORIES, headers=headers))[0] == 401

    # Without the mark the cookie is nothing, and the other credential is the one that came.
    del headers["X-Requested-With"]
    status, said, _ = await asked(platform.client, "GET", MEMORIES, headers=headers)
    assert (status, said["user_id"]) == (200, "bob")


async def test_the_session_is_read_where_the_page_calls_only(runtime: Service) -> None:
    headers = {**MARK, **cookie(token("ana"))}

    assert (await asked(runtime.client, "GET", "/api/v1/apps/memory-receipts", headers=headers))[0] == 200
    for method, path in (
        ("GET", "/v1/memories/"),
        ("GET", "/v1/ping/"),
        ("POST", "/api/v1/llm/gateway/list-memories"),
        ("POST", "/api/v1/llm/gateway/search-memories"),
        ("GET", "/none"),
    ):
        assert (await asked(runtime.client, method, path, json={}, headers=headers))[0] == 401


async def test_signing_out_ends_it_even_when_the_token_has_ended(platform: Service) -> None:
    headers = {**MARK, **cookie(token("ana", ttl=-5))}
    assert (await asked(platform.client, "GET", SESSION, headers=headers))[0] == 401

    status, _, said = await asked(platform.client, "DELETE", SESSION, headers=headers)

    assert status == 200
    assert said["Set-Cookie"].startswith('memory-session=""; ')
    assert "Max-Age=0" in said["Set-Cookie"]


async def test_the_page_is_sent_with_what_keeps_other_code_out_of_it(platform: Service) -> None:
    async with platform.client.get("/memories") as response:
        page, headers = await response.text(), response.headers
    policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))

    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert policy["frame-ancestors"] == "'none'"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "http" not in page.replace("http-equiv", "")
    assert "<style" not in page
    assert "style=" not in page


async def test_the_first_view_is_small_and_is_sent_once(platform: Service, record_property) -> None:
    plain = packed = 0
    for path in ("", "/assets/app.js", "/assets/style.css", "/assets/icon.svg", "/assets/search.svg"):
        async with platform.client.get(f"/memories{path}", headers={"Accept-Encoding": "gzip"}) as response:
            assert response.status == 200
            plain += len(await response.read())
            packed += int(response.headers["Content-Length"])
            tag = {"If-None-Match": response.headers["ETag"]}
        async with platform.client.get(f"/memories{path}", headers=tag) as again:
            assert (again.status, await again.read()) == (304, b"")
    record_property("first view", f"{plain} bytes, {packed} as they are sent")

    assert plain < 100_000


@pytest.mark.parametrize(
    "name", ["none.js", "..%2Fhttp%2Fpage.py", "..%5Cpage.py", "__init__.py", "index.html%00", "🍵"]
)
async def test_only_the_pages_own_files_are_sent(platform: Service, name: str) -> None:
    assert (await asked(platform.client, "GET", f"/memories/assets/{name}"))[0] == 404


async def test_a_runtime_serves_the_page_where_it_stands_alone_and_only_there(
    runtime: Service, settings_environment: pytest.MonkeyPatch, tmp_path
) -> None:
    assert (await asked(runtime.client, "GET", "/memories", headers=bearer("ana")))[0] == 404
    settings_environment.setenv("AGENT_RUNTIMES_MEM0_BACKEND", "faiss")
    settings_environment.setenv("AGENT_RUNTIMES_MEM0_DIR", str(tmp_path / "local"))
    settings_environment.setenv("RUNTIME_TRUST_LOOPBACK", "1")
    alone = await start_runtime(None)
    try:
        async with alone.client.get("/memories") as response:
            assert response.status == 200
        # On the owner's own machine nobody has to sign in: the page is known as its owner's.
        status, said, _ = await asked(alone.client, "GET", SESSION, headers={**MARK, "Sec-Fetch-Site": "same-origin"})
        assert (status, said["person"], said["service"]) == (200, OWNER, "runtime")
        assert (await sign_in(alone, token("ana")))[1]["person"] == "ana"
        status, said, _ = await asked(alone.client, "GET", SESSION, headers=MARK)
        assert (status, said["person"]) == (200, "ana")
    finally:
        await alone.client.close()


async def test_no_token_is_written_down(platform: Service, capfd: pytest.CaptureFixture[str]) -> None:
    mine = token("ana")
    await sign_in(platform, mine)
    await asked(platform.client, "GET", MEMORIES, headers=MARK)
    await sign_in(platform, mine + "x")

    said = capfd.readouterr()
    assert mine.rpartition(".")[2] not in said.out + said.err
