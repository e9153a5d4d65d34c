"""What is derived from mem0's three columns: generated columns, and the indexes on them."""

from __future__ import annotations

_WORDS = "to_tsvector('simple'::regconfig, left(coalesce(payload->>'text_lemmatized', payload->>'data', ''), 32000))"
LEXEMES = f"(strip({_WORDS}))"
"""Without positions: nothing reads them."""
_FITS = "octet_length(left(payload->>'user_id', 256)) + octet_length(left(payload->>'agent_id', 256)) <= 300"

COLUMNS = {
    "user_id": "text GENERATED ALWAYS AS (left(payload->>'user_id', 256)) STORED",
    "agent_id": "text GENERATED ALWAYS AS (left(payload->>'agent_id', 256)) STORED",
    "created_at": 'text COLLATE "C" GENERATED ALWAYS AS'
    " (coalesce(runtime_memory.utc_stamp(payload->>'created_at'), '')) STORED",
    "expires_on": 'text COLLATE "C" GENERATED ALWAYS AS'
    " (left(runtime_memory.utc_stamp(payload->>'expiration_date'), 10)) STORED",
    "hash": "text COLLATE \"C\" GENERATED ALWAYS AS (left(payload->>'hash', 64)) STORED",
    "lexemes": f"tsvector GENERATED ALWAYS AS {LEXEMES} STORED",
    "length": f"integer GENERATED ALWAYS AS (length({_WORDS})) STORED",
    "run": "bigint GENERATED ALWAYS AS (hashtextextended(payload->>'run_id',"
    " hashtextextended(coalesce(left(payload->>'user_id', 256), ''), 0))) STORED",
    "short": f"bit varying GENERATED ALWAYS AS (CASE WHEN {_FITS} THEN runtime_memory.short_form(vector) END) STORED",
    "terms": f"sparsevec GENERATED ALWAYS AS (CASE WHEN {_FITS} THEN runtime_memory.terms({_WORDS}) END) STORED",
}
"""Identifiers are capped at 256, one more than a usable one has: a longer one that a stock client wrote is nobody's.
`created_at` is '' when it cannot be read: such rows come last. `run` tells runs of a person apart without their names.

Nothing here can make a stock client's write fail: an index entry has at most 2,704 bytes, and `short` (1,152) and
`terms` (984) are NULL where they, or identifiers beside them, are larger: such rows are looked at themselves.
"""

TERMS = 536_870_912
"""The dimensions of `terms`: how many numbers lexemes have (`runtime_memory.term`)."""

STALE = "(vector IS NULL OR payload ? 'vector_of' OR payload->>'words_version' IS NULL)"
"""What waits for a fresh vector or fresh lexemes; its index holds those rows only."""

UNSHORT = "(short IS NULL AND vector IS NOT NULL)"
"""What has a vector and no short form of it: few or none; an index holds those rows only."""

INDEXES = {
    "scope": "(user_id, agent_id, created_at DESC, id) INCLUDE (expires_on, length)",
    "person": "(user_id, created_at DESC, id) INCLUDE (expires_on, agent_id)",
    "words": "(user_id, agent_id, hash)",
    "expiry": "(expires_on) WHERE expires_on IS NOT NULL",
    "stale": f"(id) WHERE {STALE}",
    # The compact copy that a search looks through; by id, so that a scope is looked through in parts at once.
    "compact": "(user_id, agent_id, id) INCLUDE (expires_on, length, short, terms)",
    "unshort": f"(user_id, agent_id) INCLUDE (expires_on, id) WHERE {UNSHORT}",
    # By run first and alone: a neighbour is found by it whatever the planner thinks of the size of a scope.
    "runs": "(run, created_at, id) INCLUDE (user_id, agent_id, expires_on) WHERE run IS NOT NULL",
}
"""What follows the table in each index's definition, by the end of its name."""

STORAGE = {
    # The vector stays beside the payload: exact comparison reads one heap page a row, not two.
    "toast_tuple_target": "8160",
    # An index answers alone where VACUUM has been: so it comes after one row in fifty, not after one in five.
    "autovacuum_vacuum_scale_factor": "0.02",
    "autovacuum_vacuum_insert_scale_factor": "0.02",
    "autovacuum_analyze_scale_factor": "0.02",
}
