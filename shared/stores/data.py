"""What a store promises of typed data: a JSON document per person, application and type, with its revisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from shared.records import By
from shared.scope import Scope

MOST_REVISIONS = 100
"""How many revisions of a document are kept: the oldest make room."""
MOST_TYPES = 1000
"""How many types one application may keep of one person."""


@dataclass(frozen=True, slots=True)
class DataRevision:
    """What a document was, since when, and who said so."""

    revision: int
    data: Any
    actor: str
    created: str


class DataStore(Protocol):
    """The typed data of people, each within its scope. Every method may raise `Unavailable`."""

    async def put(self, scope: Scope, type_: str, data: Any, by: By) -> DataRevision:
        """Write a new revision. Raises Conflict when the application keeps too many types."""

    async def get(self, scope: Scope, type_: str) -> Sequence[DataRevision]:
        """Every revision, oldest first; none when there is no such document."""

    async def types(self, scope: Scope) -> Sequence[str]:
        """The types of which there is a document, in order."""

    async def forget(self, scope: Scope, type_: str, by: By) -> int:
        """Forget a document with all its revisions, with a receipt: 1, or 0 when there is none."""

    async def schema(self, scope: Scope, type_: str) -> Any:
        """The JSON Schema of a type; None when it has none."""

    async def set_schema(self, scope: Scope, type_: str, schema: Any) -> None:
        """Set, or with None remove, the schema that later revisions are checked against."""
