"""Builds what is stored of a memory: the one place where mem0's payload keys and ours are set."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from shared.documents import check_document
from shared.records import RESERVED, By, Patch, Payload
from shared.times import stamp
from shared.words import lemmatized

WORDS_VERSION = 1
"""Which `shared.words` made `text_lemmatized`; rows without it were written by others, and are re-worded."""

LARGEST_METADATA = 16 * 1024
"""Bytes of JSON beside one memory: a list holds a thousand of them."""

_IDENTITY = frozenset({"user_id", "agent_id"})
"""Never moved by any change."""


def hash_of(words: str) -> str:
    """mem0's hash of a memory's words: MD5, hexadecimal. It tells exact duplicates, nothing more."""
    return hashlib.md5(words.encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class Details:
    """What a learn says beside the words; all of it optional."""

    run_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    expiration_date: str | None = None
    """Checked by `shared.times.expiration`."""
    learned_at: datetime | None = None
    """Backdates `created_at`; now when None."""
    role: str | None = None
    actor_id: str | None = None
    attributed_to: str | None = None
    inner_agent: str | None = None
    by_speaker: bool = False
    """Whether `inner_agent` holds for what the assistant said only: a fact is of the one who said it."""
    categories: tuple[str, ...] = ()
    immutable: bool = False


def new_payload(words: str, details: Details, *, now: datetime) -> dict[str, Any]:
    """The payload of a new memory, complete but for `user_id` and `agent_id`, which the store pins to the scope.

    Reserved keys in the metadata are dropped: metadata never sets identity, time or our keys.
    """
    created = stamp(details.learned_at or now)
    kept: dict[str, Any] = {
        **client_metadata(details.metadata),
        "data": words,
        "hash": hash_of(words),
        "text_lemmatized": lemmatized(words),
        "created_at": created,
        "updated_at": created,
        "run_id": details.run_id,
        "expiration_date": details.expiration_date,
        "role": details.role,
        "actor_id": details.actor_id,
        "attributed_to": details.attributed_to,
        "inner_agent": details.inner_agent if _agents(details) else None,
        "categories": list(details.categories) or None,
        "immutable": details.immutable or None,
        "words_version": WORDS_VERSION,
    }
    return {key: value for key, value in kept.items() if value is not None}


def _agents(details: Details) -> bool:
    return not details.by_speaker or details.attributed_to == "assistant"


def client_metadata(metadata: Mapping[str, Any]) -> Payload:
    """Metadata without the reserved keys. Raises BadValue when it is too large, or what no store can keep."""
    check_document(metadata, "metadata", most=LARGEST_METADATA)
    return {key: value for key, value in metadata.items() if key not in RESERVED}


@dataclass(frozen=True, slots=True)
class Patched:
    """A payload after a correction, and what the correction did."""

    payload: dict[str, Any]
    changed: bool
    words_changed: bool


def patched(payload: Payload, patch: Patch, by: By, *, now: datetime) -> Patched:
    """What a patch makes of a stored payload; the same for both engines.

    The same words again are no change. New words without a new vector leave the old one, and `vector_of` keeps the hash
    of the words it was made of until a fresh one comes. The entities that the old words named go with the old words;
    those of the new ones come with the patch, or later with the vector.
    """
    after = dict(payload)
    old = str(payload.get("data") or "")
    words_changed = patch.words is not None and patch.words != old
    if patch.words is not None and words_changed:
        stale = payload.get("vector_of") or hash_of(old)
        after |= {"data": patch.words, "hash": hash_of(patch.words), "text_lemmatized": patch.lexemes or ""}
        after |= {"words_version": WORDS_VERSION, "named_entities": None}
        after["vector_of"] = None if patch.vector is not None or stale == after["hash"] else stale
        if patch.correction:
            after |= {"corrected_by": by.actor, "corrected_at": stamp(now)}
    after |= {key: value for key, value in patch.payload.items() if key not in _IDENTITY}
    after = {key: value for key, value in after.items() if value is not None}
    changed = after != {key: value for key, value in payload.items() if value is not None}
    if changed:
        after["updated_at"] = stamp(now)
    return Patched(after if changed else dict(payload), changed, words_changed)
