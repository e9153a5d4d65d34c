"""The two memory tools that an application's agent is given: each answers in a sentence, and never fails a turn."""

from __future__ import annotations

from collections.abc import Sequence

from shared.context import one_line
from shared.tokens import Caller, Nobody

NOT_SIGNED_IN = (
    "Nothing is remembered in this conversation: its visitor is not signed in, and what an application remembers is"
    " kept for each person under their own account."
)
EMBEDDED = (
    "Nothing is remembered in this conversation: an embedded application does not know who its visitor is."
)
NOTHING_FOUND = "No relevant memories found."
SEARCH_UNAVAILABLE = "Memory search is unavailable right now."
STORED = "Stored in memory."
NOT_STORED = "Could not store that in memory right now."

MOST = 5
"""How many memories of its own, and of each source, a search answers."""


def withheld(caller: Caller) -> str | None:
    """Why nothing is remembered in a conversation, in a sentence for the agent; None for a person or the machine."""
    if not isinstance(caller, Nobody):
        return None
    return EMBEDDED if caller.why == "embed" else NOT_SIGNED_IN


def relevant(found: Sequence[str]) -> str:
    """What a search found, a line each. Words are data: they never make a line of their own."""
    lines = [line for words in found if (line := one_line(words))]
    return "\n".join(["Relevant memories:", *(f"- {line}" for line in lines)]) if lines else NOTHING_FOUND
