"""Typed data: revisions kept in order, bounded, each scope its own."""

from typing import Any

import pytest

from shared.errors import Conflict
from shared.records import By, Door
from shared.scope import Everything
from shared.stores.data import MOST_REVISIONS, MOST_TYPES, DataStore
from shared.stores.ports import MemoryStore
from tests.conformance.build import ANA, ANA_TRAVEL, BEN, BY


async def test_every_revision_is_kept_in_order(data: DataStore) -> None:
    first = await data.put(ANA, "settings", {"theme": "dark"}, BY)
    second = await data.put(ANA, "settings", {"theme": "light"}, By("zoe", Door.MCP))

    assert (first.revision, second.revision, second.actor) == (1, 2, "zoe")
    assert list(await data.get(ANA, "settings")) == [first, second]
    assert [one.data for one in await data.get(ANA, "settings")] == [{"theme": "dark"}, {"theme": "light"}]


@pytest.mark.parametrize(
    "value",
    [True, 0, -1.5, "", "é🧠' \\", [], {}, {"a": [1, {"b": None}]}, ["x" * 5000], {"": {"": ""}}],
    ids=repr,
)
async def test_any_json_comes_back_as_it_was(data: DataStore, value: Any) -> None:
    await data.put(ANA, "thing", value, BY)

    assert [one.data for one in await data.get(ANA, "thing")] == [value]


async def test_documents_are_of_one_scope_and_type(data: DataStore) -> None:
    await data.put(ANA, "b", 1, BY)
    await data.put(ANA, "a", 2, BY)
    await data.put(ANA_TRAVEL, "c", 3, BY)

    assert list(await data.types(ANA)) == ["a", "b"]
    assert list(await data.get(BEN, "a")) == list(await data.get(ANA_TRAVEL, "a")) == []
    assert list(await data.types(BEN)) == []


async def test_the_oldest_revisions_make_room(data: DataStore) -> None:
    for n in range(MOST_REVISIONS + 3):
        await data.put(ANA, "log", n, BY)
    kept = await data.get(ANA, "log")

    assert [one.revision for one in kept] == list(range(4, MOST_REVISIONS + 4))


async def test_a_document_is_forgotten_whole_with_a_receipt(data: DataStore, store: MemoryStore) -> None:
    await data.put(ANA, "settings", 1, BY)
    await data.put(ANA, "settings", 2, BY)
    await data.put(BEN, "settings", 3, BY)

    assert await data.forget(ANA, "settings", BY) == 1
    assert await data.forget(ANA, "settings", BY) == 0
    assert list(await data.get(ANA, "settings")) == []
    assert len(await data.get(BEN, "settings")) == 1
    (receipt,) = await store.receipts(Everything("ana"), limit=5)
    assert (receipt.verb, receipt.forgotten, receipt.application) == ("forget", 1, "app:notes")
    assert (await data.put(ANA, "settings", 9, BY)).revision == 1


async def test_a_schema_is_set_replaced_and_removed(data: DataStore) -> None:
    assert await data.schema(ANA, "settings") is None
    await data.set_schema(ANA, "settings", {"type": "object"})
    await data.set_schema(ANA, "settings", {"type": "array"})

    assert await data.schema(ANA, "settings") == {"type": "array"}
    assert await data.schema(BEN, "settings") is None
    await data.set_schema(ANA, "settings", None)
    assert await data.schema(ANA, "settings") is None


async def test_types_are_bounded(data: DataStore) -> None:
    for n in range(MOST_TYPES):
        await data.put(ANA, f"t{n}", n, BY)
    with pytest.raises(Conflict):
        await data.put(ANA, "one more", 1, BY)
    await data.put(ANA, "t5", 1, BY)

    assert len(await data.types(ANA)) == MOST_TYPES
