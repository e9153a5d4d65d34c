"""A person allows one application to use what another remembers of them; nothing else ever crosses."""

from __future__ import annotations

from itertools import product

import pytest

from runtime_svc.shares import NO_ADDRESS
from shared.api_keys import digest_of, new_key
from shared.http.keys import API_KEYS
from shared.tokens import IMPERSONATE
from tests.acceptance.conftest import Together
from tests.services import MACHINE, Service, bearer, start_runtime

SHARES = "/api/runtimes/v1/memory-shares"
MEMORIES = "/api/v1/apps/memories"
AS_MACHINE = {"Authorization": f"Bearer {MACHINE}"}


async def learn(runtime: Service, app: str, words: str, uid: str = "ana") -> str:
    status, said = await runtime.post(f"{MEMORIES}/{app}", json={"memory": words, "wait": True}, uid=uid)
    assert status == 200, said
    return said["results"][0]["id"]


async def allow(platform: Service, source: str, reader: str, uid: str = "ana") -> dict:
    status, said = await platform.put(SHARES, json={"source": f"app:{source}", "reader": f"app:{reader}"}, uid=uid)
    assert status == 200, said
    return said["share"]


async def search(runtime: Service, app: str, uid: str | None = "ana", query: str = "reports", **more) -> dict:
    status, said = await runtime.post(f"{MEMORIES}/{app}/search", json={"query": query}, uid=uid, **more)
    assert status == 200, said
    return said


def words(said: dict) -> list[str]:
    return [memory["memory"] for memory in said["memories"]]


async def test_what_was_allowed_is_read_after_its_own_and_marked_with_who_remembers_it(together: Together) -> None:
    await learn(together.runtime, "desk", "Reports are read on Mondays")
    await learn(together.runtime, "travel", "Reports go out on Fridays")
    await learn(together.runtime, "books", "Reports are kept for ten years")
    await allow(together.platform, "travel", "desk")

    said = await search(together.runtime, "desk")

    assert words(said) == ["Reports are read on Mondays", "Reports go out on Fridays"]
    own, shared = said["memories"]
    assert "remembered_by" not in own
    assert shared["remembered_by"] == shared["metadata"]["remembered_by"] == "app:travel"
    assert "unread" not in said


async def test_sharing_is_one_way_and_for_one_pair_only(together: Together) -> None:
    await learn(together.runtime, "desk", "Reports are read on Mondays")
    await learn(together.runtime, "travel", "Reports go out on Fridays")
    await allow(together.platform, "travel", "desk")

    assert words(await search(together.runtime, "travel")) == ["Reports go out on Fridays"]
    assert words(await search(together.runtime, "books")) == []


async def test_an_allowance_leads_to_the_persons_own_memories_and_nobody_elses(together: Together) -> None:
    await learn(together.runtime, "travel", "Ana's reports go out on Fridays", "ana")
    await learn(together.runtime, "travel", "Bob's reports go out on Sundays", "bob")
    await allow(together.platform, "travel", "desk", "ana")

    assert words(await search(together.runtime, "desk", "ana")) == ["Ana's reports go out on Fridays"]
    for uid in ("bob", "an", "ana1", "ANA", "ana%"):
        assert words(await search(together.runtime, "desk", uid)) == []


async def test_a_shared_memory_is_never_listed_corrected_or_forgotten_through_its_reader(together: Together) -> None:
    theirs = await learn(together.runtime, "travel", "Reports go out on Fridays")
    await allow(together.platform, "travel", "desk")

    assert (await together.runtime.get(f"{MEMORIES}/desk", uid="ana"))[1]["memories"] == []
    for method in ("GET", "PATCH", "DELETE"):
        body = {"json": {"memory": "x"}} if method == "PATCH" else {}
        assert (await together.runtime.call(method, f"{MEMORIES}/desk/{theirs}", uid="ana", **body))[0] == 404
    assert await together.runtime.delete(f"{MEMORIES}/desk", params={"count": 9}, uid="ana") == (200, {"forgotten": 0})
    assert words(await search(together.runtime, "desk")) == ["Reports go out on Fridays"]


async def test_what_a_reader_learns_it_keeps_under_its_own_key_only(together: Together) -> None:
    await allow(together.platform, "travel", "desk")
    await learn(together.runtime, "desk", "Reports are read on Mondays")

    assert (await together.runtime.get(f"{MEMORIES}/travel", uid="ana"))[1]["memories"] == []


async def test_stopped_it_is_not_read_in_the_next_turn(together: Together) -> None:
    await learn(together.runtime, "travel", "Reports go out on Fridays")
    await allow(together.platform, "travel", "desk")
    pair = {"source": "app:travel", "reader": "app:desk"}

    assert (await together.platform.delete(SHARES, params=pair, uid="ana"))[0] == 200
    assert words(await search(together.runtime, "desk")) == []
    assert (await together.platform.delete(SHARES, params=pair, uid="ana"))[0] == 404


async def test_the_limit_holds_for_own_and_for_each_source(together: Together) -> None:
    for app in ("desk", "travel", "books"):
        for n in range(3):
            await learn(together.runtime, app, f"Report {n} of {app}")
    await allow(together.platform, "travel", "desk")
    await allow(together.platform, "books", "desk")

    _, said = await together.runtime.post(f"{MEMORIES}/desk/search", json={"query": "report", "limit": 2}, uid="ana")

    assert [m.get("remembered_by") for m in said["memories"]] == [
        None,
        None,
        "app:travel",
        "app:travel",
        "app:books",
        "app:books",
    ]


async def test_a_recall_marks_what_is_shared_and_keeps_a_part_of_its_budget_for_it(together: Together) -> None:
    for n in range(20):
        await learn(together.runtime, "desk", f"The desk knows that report number {n} is read on Mondays by everybody")
    await learn(together.runtime, "travel", "Reports go out on Fridays")
    await allow(together.platform, "travel", "desk")

    asked = {"query": "reports", "limit": 20, "max_tokens": 150, "inject_memory_timestamps": False}
    _, said = await together.runtime.post(f"{MEMORIES}/desk/recall", json=asked, uid="ana")

    lines = said["context"].split("\n")
    assert lines[0] == "[Relevant memories about this user:]"
    assert lines[1].startswith("- The desk knows")
    assert lines[-1] == "- Reports go out on Fridays (remembered by: app:travel)"
    assert said["context"].count("Relevant memories") == 1


async def test_a_recall_of_shared_memories_alone_has_its_first_line(together: Together) -> None:
    await learn(together.runtime, "travel", "Reports go out on Fridays")
    await allow(together.platform, "travel", "desk")

    asked = {"query": "reports", "max_tokens": 60, "inject_memory_timestamps": False}
    _, said = await together.runtime.post(f"{MEMORIES}/desk/recall", json=asked, uid="ana")

    assert said["context"] == (
        "[Relevant memories about this user:]\n- Reports go out on Fridays (remembered by: app:travel)"
    )


async def test_the_machine_reads_its_own_only(together: Together) -> None:
    await learn(together.runtime, "desk", "Reports are read on Mondays", "owner-1")
    await learn(together.runtime, "travel", "Reports go out on Fridays", "owner-1")
    await allow(together.platform, "travel", "desk", "owner-1")

    assert words(await search(together.runtime, "desk", None, headers=AS_MACHINE)) == ["Reports are read on Mondays"]
    assert len(words(await search(together.runtime, "desk", "owner-1"))) == 2


@pytest.mark.fault("The platform is stopped, and started again", "a person's turn reads nothing, and says why; the next one reads")  # fmt: skip
async def test_while_the_platform_is_stopped_a_persons_turn_reads_nothing_and_says_why(together: Together) -> None:
    await learn(together.runtime, "desk", "Reports are read on Mondays", "owner-1")
    port = await together.stop_platform()
    for path in ("search", "recall"):
        status, said = await together.runtime.post(f"{MEMORIES}/desk/{path}", json={"query": "reports"})
        assert (status, said["memories"]) == (200, [])
        assert said["unread"].startswith("What you allowed other applications to share with this one could not be read")
        assert said.get("context", "") == ""
    assert words(await search(together.runtime, "desk", None, headers=AS_MACHINE)) == ["Reports are read on Mondays"]
    assert (await together.runtime.get(f"{MEMORIES}/desk"))[1]["count"] == 1

    await together.start_platform(port)

    assert words(await search(together.runtime, "desk", "owner-1")) == ["Reports are read on Mondays"]


async def test_without_the_platforms_address_a_persons_turn_reads_nothing(
    settings_environment: pytest.MonkeyPatch, database: str
) -> None:
    settings_environment.delenv("RUNTIME_SHARES")
    runtime = await start_runtime(database)
    try:
        await learn(runtime, "desk", "Reports are read on Mondays", "owner-1")

        assert await search(runtime, "desk", "owner-1") == {
            "app": "desk",
            "count": 0,
            "memories": [],
            "unread": NO_ADDRESS,
        }
        assert len(words(await search(runtime, "desk", None, headers=AS_MACHINE))) == 1
    finally:
        await runtime.client.close()


async def test_requests_of_one_turn_ask_once_and_a_reset_of_its_deployment_asks_again(together: Together) -> None:
    await learn(together.runtime, "travel", "Reports go out on Fridays")
    turn = {"headers": {"X-Turn-Id": "turn-1"}}
    assert words(await search(together.runtime, "desk", **turn)) == []
    await allow(together.platform, "travel", "desk")
    token = bearer("ana")
    held = {"headers": {"X-Turn-Id": "turn-2", **token}}
    assert words(await search(together.runtime, "desk", **held)) == ["Reports go out on Fridays"]
    await together.platform.delete(SHARES, params={"source": "app:travel", "reader": "app:desk"}, uid="ana")
    assert words(await search(together.runtime, "desk", **held)) == ["Reports go out on Fridays"]

    status, said = await together.runtime.post("/api/v1/apps/deployments/desk/live/reset", uid="ana")

    assert (status, said["forgotten"]) == (200, 0)
    assert said["dropped_turns"] >= 1
    assert "Preview and every deployment" in said["message"]
    assert "DELETE /api/v1/apps/memories/desk" in said["message"]
    assert words(await search(together.runtime, "desk", **held)) == []


async def test_allowed_again_it_is_kept_as_it_was(together: Together) -> None:
    first = await allow(together.platform, "travel", "desk")
    again = await allow(together.platform, "travel", "desk")

    assert first == again
    assert first["source"] == "app:travel"
    assert first["reader"] == "app:desk"
    assert first["allowed_at"]


async def test_shares_are_listed_by_source_by_reader_and_in_all(platform: Service) -> None:
    for source, reader in (("a", "b"), ("a", "c"), ("d", "b")):
        await allow(platform, source, reader)
    await allow(platform, "x", "y", "bob")

    async def pairs(**query: str) -> list[tuple[str, str]]:
        status, said = await platform.get(SHARES, params=query, uid="ana")
        assert status == 200, said
        return [(share["source"], share["reader"]) for share in said["shares"]]

    assert await pairs() == [("app:a", "app:b"), ("app:a", "app:c"), ("app:d", "app:b")]
    assert await pairs(source="app:a") == [("app:a", "app:b"), ("app:a", "app:c")]
    assert await pairs(reader="app:b") == [("app:a", "app:b"), ("app:d", "app:b")]
    assert await pairs(source="app:d", reader="app:b") == [("app:d", "app:b")]
    assert await pairs(source="app:x") == []


BAD_KEYS = [
    "",
    "a",
    "app:",
    "app:*",
    "app:app:a",
    "*",
    "app:a b",
    "app: a",
    "app:a\u00a0",
    "app:a\x00",
    "app:" + "a" * 252,
    "APP:a",
    " app:a",
]


async def test_a_malformed_key_is_refused_and_nothing_is_allowed(platform: Service) -> None:
    for bad in [*BAD_KEYS, None, 5, ["app:a"], {}, True]:
        for body in ({"source": bad, "reader": "app:b"}, {"source": "app:b", "reader": bad}, {"source": bad}, {}):
            status, said = await platform.put(SHARES, json=body, uid="ana")
            assert status == 422, (bad, said)
            assert isinstance(said["detail"], str)
    assert (await platform.get(SHARES, uid="ana"))[1]["shares"] == []


async def test_a_malformed_key_in_a_query_is_refused(platform: Service) -> None:
    for bad, name in product([key for key in BAD_KEYS if key], ("source", "reader")):
        assert (await platform.get(SHARES, params={name: bad}, uid="ana"))[0] == 422, bad
        pair = {"source": "app:a", "reader": "app:b", name: bad}
        assert (await platform.delete(SHARES, params=pair, uid="ana"))[0] == 422, bad


async def test_an_application_is_not_its_own_reader_and_half_a_pair_is_not_a_pair(platform: Service) -> None:
    assert (await platform.put(SHARES, json={"source": "app:a", "reader": "app:a"}, uid="ana"))[0] == 422
    assert (await platform.delete(SHARES, params={"source": "app:a"}, uid="ana"))[0] == 422
    assert (await platform.delete(f"{SHARES}?source=app:a&source=app:b&reader=app:c", uid="ana"))[0] == 422


async def key(together: Together, owner: str, *, application: str | None = None, impersonates: bool = False) -> dict:
    """The header of an API key, kept as the command that makes them keeps it."""
    scopes = frozenset({IMPERSONATE} if impersonates else ())
    made, text = new_key(owner, "a key", application=application, scopes=scopes)
    await together.platform.client.app[API_KEYS].keep(made, digest_of(text))
    return {"X-API-Key": text}


async def test_a_bound_key_reads_what_its_application_may_and_gives_no_word_of_the_person(together: Together) -> None:
    await learn(together.runtime, "travel", "Reports go out on Fridays")
    await allow(together.platform, "travel", "desk")
    bound = {"uid": None, "headers": await key(together, "ana", application="app:desk")}

    assert words(await search(together.runtime, "desk", **bound)) == ["Reports go out on Fridays"]
    status, said = await together.platform.get(SHARES, params={"reader": "app:desk"}, **bound)
    assert (status, [share["source"] for share in said["shares"]]) == (200, ["app:travel"])
    for query in ({}, {"source": "app:travel"}, {"reader": "app:other"}):
        assert (await together.platform.get(SHARES, params=query, **bound))[0] == 403
    pair = {"source": "app:books", "reader": "app:desk"}
    assert (await together.platform.put(SHARES, json=pair, **bound))[0] == 403
    assert (await together.platform.delete(SHARES, params={**pair, "source": "app:travel"}, **bound))[0] == 403
    assert (await together.runtime.post(f"{MEMORIES}/travel/search", json={"query": "reports"}, **bound))[0] == 403


async def test_a_key_that_acts_for_a_person_reads_with_that_persons_allowances_and_gives_none(
    together: Together,
) -> None:
    await learn(together.runtime, "travel", "Ana's reports go out on Fridays", "ana")
    await learn(together.runtime, "travel", "The service's reports go out on Sundays", "svc")
    for_ana = {"uid": None, "headers": {**await key(together, "svc", impersonates=True), "X-On-Behalf-Of": "ana"}}
    await allow(together.platform, "travel", "desk", "svc")
    assert words(await search(together.runtime, "desk", **for_ana)) == []

    await allow(together.platform, "travel", "desk", "ana")
    assert words(await search(together.runtime, "desk", **for_ana)) == ["Ana's reports go out on Fridays"]
    pair = {"source": "app:books", "reader": "app:desk"}
    assert (await together.platform.put(SHARES, json=pair, **for_ana))[0] == 403
    assert (await together.platform.delete(SHARES, params={**pair, "source": "app:travel"}, **for_ana))[0] == 403
    assert len((await together.platform.get(SHARES, **for_ana))[1]["shares"]) == 1
    _, record = await together.platform.get("/api/runtimes/v1/memory-access", uid="ana")
    assert {access["actor"] for access in record["access"]} == {"svc"}


async def test_an_unbound_key_of_a_person_allows_as_the_person_does(together: Together) -> None:
    own = {"uid": None, "headers": await key(together, "ana")}
    pair = {"source": "app:travel", "reader": "app:desk"}

    assert (await together.platform.put(SHARES, json=pair, **own))[0] == 200
    assert (await together.platform.delete(SHARES, params=pair, **own))[0] == 200


async def test_an_embed_and_an_anonymous_visitor_allow_nothing(platform: Service) -> None:
    for flag in ("embed", "anonymous"):
        headers = bearer("ana", **{flag: True})
        for method in ("GET", "PUT", "DELETE"):
            assert (await platform.call(method, SHARES, uid=None, headers=headers))[0] == 403
