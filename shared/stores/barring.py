"""What a learn must not bring back: words that were forgotten after it was accepted."""

from __future__ import annotations

from collections.abc import Sequence

from shared.payloads import hash_of
from shared.records import Add, Change, Update

FORGOTTEN = "What it was to learn was forgotten before it was learned."


def unbarred(changes: Sequence[Change], barred: frozenset[str]) -> list[Change]:
    """The changes without those whose words have one of these hashes."""
    if not barred:
        return list(changes)
    return [
        change
        for change in changes
        if not (isinstance(change, Add) and change.payload["hash"] in barred)
        and not (isinstance(change, Update) and hash_of(change.words) in barred)
    ]
