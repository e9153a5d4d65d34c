"""Exported and taken in: exactly, or not at all."""

from __future__ import annotations

import asyncio
import copy
import io
import json
from typing import Any

import pytest

from tests.acceptance.snapshots.life import (
    APP,
    EXAMPLE,
    PERSON,
    STATE,
    STATES,
    UNITS,
    allow,
    exported,
    full_life,
    learn,
    same_words_under_other_ids,
    seen,
)
from tests.services import Service, bearer
from tests.waiting import until


async def test_the_contracts_example_taken_in_comes_out_equal(runtime: Service, platform: Service) -> None:
    status, said = await platform.post(STATES, json=EXAMPLE, uid=PERSON)
    assert (status, said["id"]) == (200, EXAMPLE["id"])

    for method in ("GET", "POST"):
        status, said = await platform.call(method, f"{STATE}/{EXAMPLE['id']}", uid=PERSON)
        assert status == 200
        assert {k: said[k] for k in EXAMPLE} == EXAMPLE
    assert said["restored"]["notEmbedded"] == 1
    _, now = await platform.get(STATE, uid=PERSON)
    assert now["sessionMemoryUnits"] == EXAMPLE["sessionMemoryUnits"]
    assert now["dataMemoryUnits"][0]["revisions"] == EXAMPLE["dataMemoryUnits"][0]["revisions"]
    _, found = await runtime.get(f"{APP}acme-support", uid=PERSON)
    assert [m["memory"] for m in found["memories"]] == [EXAMPLE["sessionMemoryUnits"][0]["text"]]
    assert found["memories"][0]["created_at"] == "2026-09-09T12:31:07.412000+00:00"
    assert "metadata" not in found["memories"][0]
    _, found = await runtime.post(f"{APP}acme-support/search", json={"query": "parking"}, uid=PERSON)
    assert found["count"] == 1


@pytest.mark.field("B103")
async def test_an_export_taken_in_again_restores_exactly(runtime: Service, platform: Service) -> None:
    await full_life(runtime)
    await allow(platform, runtime)
    before = await seen(runtime, platform)
    _, saved = await platform.post(STATE, uid="p1")
    document = await exported(platform, saved["id"])
    assert (await platform.post(STATES, json=document, uid="p1"))[0] == 200
    await platform.delete("/api/memory", params={"snapshots": "true", "allowances": "true"}, uid="p1")
    assert (await platform.get(STATES, uid="p1"))[1]["count"] == 0

    status, said = await platform.post(STATES, json=document, uid="p1")
    assert (status, said["id"]) == (200, saved["id"])
    await platform.post(f"{STATE}/{saved['id']}", uid="p1")

    assert await seen(runtime, platform) == before
    assert (await platform.get(STATE, uid="p1"))[1]["id"] == saved["id"]


@pytest.mark.field("B13")
@pytest.mark.field("B14")
async def test_an_export_of_one_person_taken_in_by_another_never_touches_the_first(
    runtime: Service, platform: Service
) -> None:
    await full_life(runtime)
    before = await seen(runtime, platform)
    _, saved = await platform.post(STATE, uid="p1")
    document = await exported(platform, saved["id"])

    assert (await platform.post(STATES, json=document, uid="p2"))[0] == 200
    for _ in range(2):
        status, said = await platform.post(f"{STATE}/{saved['id']}", uid="p2")
        assert (status, said["restored"]["memories"]) == (200, 4)
    theirs = await seen(runtime, platform, uid="p2")
    same_words_under_other_ids(theirs, before)
    assert await seen(runtime, platform) == before


def edits() -> list[tuple[Any, str]]:
    def edit(change: Any) -> Any:
        def apply(document: dict[str, Any]) -> bytes:
            changed = copy.deepcopy(document)
            change(changed)
            return json.dumps(changed).encode()

        return apply

    def words(d: dict[str, Any]) -> None:
        d["userMemoryUnits"][0]["text"] = "Something else"

    def record(d: dict[str, Any]) -> None:
        d["userMemoryUnits"][0]["memory"]["payload"]["data"] = "Something else"
        d["userMemoryUnits"][0]["text"] = "Something else"

    return [
        (edit(words), "words"),
        (edit(record), "record"),
        (edit(lambda d: d["userMemoryUnits"].pop()), "a unit less"),
        (edit(lambda d: d["userMemoryUnits"].append(d["userMemoryUnits"][0])), "a unit twice"),
        (edit(lambda d: d.update(checksum="0" * 64)), "checksum"),
        (edit(lambda d: d.pop("checksum")), "no checksum"),
        (edit(lambda d: d.update(format="other/1")), "another program"),
        (edit(lambda d: d.pop("sessionMemoryUnits")), "a list less"),
        (edit(lambda d: d.update(id="x")), "no id"),
        (edit(lambda d: d["userMemoryUnits"][0].pop("memory")), "no entry"),
        (edit(lambda d: d["userMemoryUnits"][0]["memory"].update(vector="!")), "vector"),
        (edit(lambda d: d["userMemoryUnits"][0]["memory"].update(kind=9)), "kind"),
        (edit(lambda d: d["userMemoryUnits"][0]["memory"].update(payload=[])), "payload"),
        (edit(lambda d: d["userMemoryUnits"][0].update(memory=7)), "entry"),
        (lambda d: json.dumps(d).encode()[:-1], "cut by one"),
        (lambda d: json.dumps(d).encode()[: len(json.dumps(d)) // 2], "half"),
        (lambda d: json.dumps(d).encode() + b"{}", "more after it"),
        (lambda _: b"", "empty"),
        (lambda _: b"[]", "a list"),
        (lambda _: b"{}", "an object"),
        (lambda _: b"\xff\xfe{}", "not UTF-8"),
        (lambda _: b'{"id": NaN}', "not a number"),
        (lambda _: b"[" * 100_000, "deep"),
        (lambda _: b'{"userMemoryUnits": [' + b"[" * 100_000, "deep inside"),
        (lambda d: json.dumps(EXAMPLE | {"userMemoryUnits": [7]}).encode(), "a number for a unit"),
        (
            lambda d: json.dumps(
                EXAMPLE | {"userMemoryUnits": [{"id": "x", "text": "a\0b", "created": "2026-01-01"}]}
            ).encode(),
            "NUL",
        ),
        (
            lambda d: json.dumps(
                EXAMPLE | {"userMemoryUnits": [{"id": "x", "text": "\ud800", "created": "2026-01-01"}]}
            ).encode(),
            "surrogate",
        ),
        (lambda d: json.dumps(EXAMPLE | {"userMemoryUnits": [{"id": "x", "text": "y"}]}).encode(), "no time"),
        (
            lambda d: json.dumps(
                EXAMPLE | {"userMemoryUnits": [{"id": "x", "text": " ", "created": "2026-01-01"}]}
            ).encode(),
            "no words",
        ),
    ]


async def test_a_document_that_is_corrupt_changed_or_foreign_is_refused_whole(
    runtime: Service, platform: Service
) -> None:
    await full_life(runtime)
    _, saved = await platform.post(STATE, uid="p1")
    document = await exported(platform, saved["id"])
    await platform.delete(f"{STATE}/{saved['id']}", uid="p1")
    before = await seen(runtime, platform)

    for edit, name in edits():
        raw = io.BytesIO(edit(document))
        status, said = await platform.post(STATES, data=raw, headers={"Content-Type": "application/json"}, uid="p1")
        assert status in (400, 422), (name, said)
        assert said["detail"].endswith("."), name
        assert (await platform.get(STATES, uid="p1"))[1]["count"] == 0, name

    assert await seen(runtime, platform) == before


async def test_an_id_that_another_snapshot_of_mine_has_is_a_conflict(platform: Service) -> None:
    assert (await platform.post(STATES, json=EXAMPLE, uid=PERSON))[0] == 200
    assert (await platform.post(STATES, json=EXAMPLE, uid=PERSON))[0] == 200

    changed = {**EXAMPLE, "dataMemoryUnits": []}
    status, said = await platform.post(STATES, json=changed, uid=PERSON)

    assert (status, said["code"]) == (409, "conflict")
    assert (await platform.get(f"{STATE}/{EXAMPLE['id']}", uid=PERSON))[1]["dataMemoryUnits"] != []


@pytest.mark.field("B13")
async def test_rows_that_name_another_person_are_the_importers_own(runtime: Service, platform: Service) -> None:
    await full_life(runtime)
    await learn(runtime, "a", "Of the victim", uid="victim")
    theirs = await seen(runtime, platform, uid="victim")
    _, saved = await platform.post(STATE, uid="p1")
    document = await exported(platform, saved["id"])
    for name in UNITS[1:]:
        for unit in document[name]:
            unit["userId"] = "victim"
    await platform.delete("/api/memory", params={"snapshots": "true"}, uid="p1")
    foreign = {
        **EXAMPLE,
        "userId": "victim",
        "userMemoryUnits": [{**EXAMPLE["sessionMemoryUnits"][0], "id": "u", "userId": "victim", "namespace": "user"}],
    }

    for taken in (document, foreign):
        status, said = await platform.post(STATES, json=taken, uid="p1")
        assert status == 200, said
        status, said = await platform.post(f"{STATE}/{said['id']}", uid="p1")
        assert status == 200
        assert said["userId"] == "p1"
        assert {unit["userId"] for name in UNITS[1:] for unit in said[name]} == {"p1"}

    assert (await runtime.get(f"{APP}acme-support", uid="p1"))[1]["count"] == 2
    assert await seen(runtime, platform, uid="victim") == theirs
    assert (await runtime.get(f"{APP}acme-support", uid="victim"))[1]["count"] == 0


async def test_a_document_that_is_too_large_or_breaks_off_leaves_nothing(
    runtime: Service, platform: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await full_life(runtime)
    _, saved = await platform.post(STATE, uid="p1")
    raw = json.dumps(await exported(platform, saved["id"])).encode()
    await platform.delete(f"{STATE}/{saved['id']}", uid="p1")

    server = platform.client.server.runner.server
    taken, connected = server.requests_count, len(server.connections)
    _, writer = await asyncio.open_connection(platform.client.host, platform.client.port)
    head = f"POST {STATES} HTTP/1.1\r\nHost: x\r\nAuthorization: {bearer('p1')['Authorization']}\r\nContent-Length: {len(raw)}\r\n\r\n"
    writer.write(head.encode() + raw[: len(raw) // 2])
    await writer.drain()
    await until(lambda: server.requests_count > taken)
    writer.close()
    await until(lambda: len(server.connections) <= connected)  # whoever read it has ended
    assert (await platform.get(STATES, uid="p1"))[1]["total"] == 0

    monkeypatch.setattr("shared.snapshots.saving.LARGEST_DOCUMENT", 1000)
    headers = {"Content-Type": "application/json"}
    status, said = await platform.post(STATES, data=io.BytesIO(raw), headers=headers, uid="p1")
    assert (status, said["code"]) == (413, "too_large")
    assert (await platform.get(STATES, uid="p1"))[1]["total"] == 0
