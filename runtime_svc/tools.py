"""The two memory tools that an application's agent is given: each answers in a sentence, and never fails a turn."""

from __future__ import annotations

from collections.abc import Sequence

from runtime_svc.finding import Reader, find
from runtime_svc.learning import Learning, learn
from runtime_svc.lesson import Lesson
from runtime_svc.ports import Message
from runtime_svc.recalling import Query
from runtime_svc.turns import Turn
from shared.context import one_line
from shared.errors import Conflict, TooMany, Unavailable
from shared.records import Door
from shared.tokens import Caller, Nobody, by_of, scope_of

NOT_SIGNED_IN = (
    "Nothing is remembered in this conversation: its visitor is not signed in, and what an application remembers is"
    " kept for each person under their own account."
)
EMBEDDED = "Nothing is remembered in this conversation: an embedded application does not know who its visitor is."
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


async def search_memory(reader: Reader, turn: Turn, application: str, query: str) -> str:
    """What is remembered that is relevant to a query, a line each, or why nothing is.

    Raises BadValue for a query that says nothing, NotAllowed for a key bound to another application.
    """
    why = withheld(turn.caller) or reader.appspecs.why_not(application)
    if why is not None:
        return why
    asked = Query(query, MOST)
    try:
        found = await find(reader, turn, application, asked)
    except Unavailable:
        return SEARCH_UNAVAILABLE
    if found.unread is not None:
        return SEARCH_UNAVAILABLE
    return relevant([hit.ranked.memory.words for hit in found.hits])


async def remember(reader: Reader, learning: Learning, turn: Turn, application: str, content: str) -> str:
    """Keep a fact or a preference under the application's own key, never another's; or why it is not kept.

    Raises BadValue for content that says nothing, NotAllowed for a key bound to another application.
    """
    why = withheld(turn.caller) or reader.appspecs.why_not(application)
    if why is not None:
        return why
    lesson = Lesson(messages=[Message("user", content)], metadata={"scope": "agent"})
    try:
        scope, by = scope_of(turn.caller, application), by_of(turn.caller, Door.APPS)
        # Without an LLM it is learned at once, and found by the next search; an LLM takes longer than a turn may.
        await learn(learning, scope, lesson, by, wait=learning.extractor is None)
    except (Unavailable, TooMany, Conflict):
        return NOT_STORED
    return STORED
