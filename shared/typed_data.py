"""Typed data memory: a JSON document per person, application and type, each write a new revision.

It is the person's: forget-all of memories leaves it, erasing everything forgets it, and so does its own forget.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from shared.documents import check_document
from shared.errors import BadValue, NotFound
from shared.records import By
from shared.schemas import check_data, check_schema
from shared.scope import Scope, unusable
from shared.stores.data import DataRevision, DataStore

LARGEST = 64 * 1024
"""Bytes of one document."""

UNKNOWN = "There is no data of that type."


def type_name(value: object) -> str:
    """A usable type, such as `UserFacts` or `org.example.UserFacts`. Raises BadValue."""
    if (why := unusable(value)) is not None:
        raise BadValue(f"A type {why}.")
    if "/" in str(value):
        raise BadValue("A type has no slash.")
    return str(value)


async def put(store: DataStore, scope: Scope, type_: str, data: Any, by: By) -> DataRevision:
    """Write a new revision of a document. Raises BadValue, with the path of the fault where it has a schema."""
    if data is None:
        raise BadValue("data is missing: what is to be remembered?")
    check_document(data, "data", most=LARGEST)
    schema = await store.schema(scope, type_)
    if schema is not None:
        await asyncio.to_thread(check_data, data, schema)
    return await store.put(scope, type_, data, by)


async def get(store: DataStore, scope: Scope, type_: str) -> Sequence[DataRevision]:
    """Every revision of a document, oldest first. Raises NotFound."""
    found = await store.get(scope, type_)
    if not found:
        raise NotFound(UNKNOWN)
    return found


async def forget(store: DataStore, scope: Scope, type_: str, by: By) -> int:
    """Forget a document with all its revisions: 1. Raises NotFound."""
    if not await store.forget(scope, type_, by):
        raise NotFound(UNKNOWN)
    return 1


async def set_schema(store: DataStore, scope: Scope, type_: str, schema: Any) -> None:
    """From now on, revisions fit this schema; those there are stay as they are. Raises BadValue."""
    await asyncio.to_thread(check_schema, schema)
    await store.set_schema(scope, type_, schema)


async def schema_of(store: DataStore, scope: Scope, type_: str) -> Any:
    """The schema of a type. Raises NotFound."""
    found = await store.schema(scope, type_)
    if found is None:
        raise NotFound("That type has no schema.")
    return found


async def remove_schema(store: DataStore, scope: Scope, type_: str) -> None:
    """From now on, any JSON fits. Raises NotFound."""
    await schema_of(store, scope, type_)
    await store.set_schema(scope, type_, None)
