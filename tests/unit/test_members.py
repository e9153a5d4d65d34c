"""A document as it arrives: what is long is read off the event loop, what is large one at a time."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from shared.errors import TooLarge
from shared.snapshots.entries import Entry
from shared.snapshots.importing import Importing
from shared.snapshots.members import Member, Members
from shared.snapshots.sealing import Part, Parts
from tests.waiting import FOR_EVER

LARGE = "x" * (1024 * 1024 + 1)


def document(*texts: str) -> bytes:
    return json.dumps({"id": "x", "said": [{"text": text} for text in texts]}).encode()


async def pieces(raw: bytes, *, stall: asyncio.Event | None = None) -> AsyncIterator[bytes]:
    """A document in pieces; with `stall` its client says nothing more after all but the end, until that is set."""
    for at in range(0, len(raw) - 10, 65_536):
        yield raw[at : min(at + 65_536, len(raw) - 10)]
    if stall is not None:
        await stall.wait()
    yield raw[-10:]


async def elements(raw: bytes, *, stall: asyncio.Event | None = None) -> int:
    return sum([member.shape == "element" async for member in Members(pieces(raw, stall=stall)).read()])


async def test_what_is_long_is_read_and_looked_at_off_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: dict[str, set[int]] = {"_decoded": set(), "_entries": set()}

    def note(kind: type, name: str) -> None:
        real = getattr(kind, name)

        def noted(self: Any, *given: Any) -> Any:
            value = given[0].value if given else None
            if name == "_decoded" or (isinstance(value, dict) and len(value["text"]) > 100):
                threads[name].add(threading.get_ident())
            return real(self, *given)

        monkeypatch.setattr(kind, name, noted)

    note(Importing, "_entries")
    monkeypatch.setattr(Importing, "_entry", lambda *_: pytest.fail("not a unit"))
    async for _ in Members(pieces(document("y"))).read():
        pass
    note(Members, "_decoded")
    raw = b'{"graphNodes": ' + json.dumps([{"text": "x" * 200_000}]).encode() + b"}"
    with pytest.raises(Exception, match="it lacks id"):
        await anext(Importing("ana").parts(pieces(raw)))

    assert threads["_entries"]
    assert threading.get_ident() not in threads["_entries"]
    assert threads["_decoded"] - {threading.get_ident()}


async def test_a_large_element_waits_until_the_one_before_was_let_go_of() -> None:
    first, second = (Members(pieces(document(LARGE, "end"))).read() for _ in range(2))

    async def element(of: AsyncIterator[Member]) -> Member:
        async for member in of:
            if member.shape == "element":
                return member
        raise AssertionError

    await element(first)
    waits = asyncio.create_task(element(second))
    for _ in range(50):
        await asyncio.to_thread(lambda: None)
    assert not waits.done()

    async with asyncio.timeout(FOR_EVER):
        await element(first)
        assert (await waits).size > len(LARGE)
    await first.aclose()
    await second.aclose()


async def test_a_client_that_is_slow_keeps_no_other_waiting() -> None:
    stall = asyncio.Event()
    slow = asyncio.create_task(elements(document(LARGE), stall=stall))
    async with asyncio.timeout(FOR_EVER):
        for _ in range(3):
            assert await elements(document(LARGE, LARGE)) == 2
        stall.set()
        assert await slow == 1


async def test_a_document_that_breaks_off_keeps_no_other_waiting() -> None:
    broken = b'{"said": [' + json.dumps({"text": LARGE}).encode() + b"; "
    async with asyncio.timeout(FOR_EVER):
        for _ in range(3):
            with pytest.raises(Exception, match="not valid JSON"):
                await elements(broken)
        assert await elements(document(LARGE)) == 1


async def test_large_entries_are_compressed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    together: list[int] = []
    real = Parts.take

    def take(self: Parts, entries: Sequence[Entry]) -> list[Part]:
        together.append(len(entries))
        return real(self, entries)

    monkeypatch.setattr(Parts, "take", take)
    one = {"created": "2026-01-01T00:00:00Z", "data": "d" * 60_000}
    data = [{"id": f"user:ana/t{n}", "revisions": [one] * 5} for n in range(6)]
    raw = json.dumps({"id": "x", "dataMemoryUnits": data}).encode()
    with pytest.raises(Exception, match="it lacks userId"):
        [part async for part in Importing("ana").parts(pieces(raw))]

    assert together == [1, 1, 1, 1, 1, 1, 0]


@pytest.mark.parametrize("value", ["[],", "{},", "1,"])
async def test_an_element_of_too_many_values_is_refused(value: str) -> None:
    raw = b'{"said": [[' + (value * 4_100_000).encode() + b"1]]}"
    with pytest.raises(TooLarge):
        await elements(raw)
