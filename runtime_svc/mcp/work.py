"""What each tool does, by the use cases of the other doors."""

from __future__ import annotations

from runtime_svc import tools
from runtime_svc.finding import find
from runtime_svc.learning import learn
from runtime_svc.lesson import Lesson
from runtime_svc.mcp import schemas
from runtime_svc.mcp.answers import DATA, CannotSay, Said, found_data, found_lines, lines, revision_line
from runtime_svc.mcp.visit import Visit
from runtime_svc.ports import Message
from runtime_svc.recalling import Query
from shared import remembered, typed_data
from shared.errors import Conflict, GrewMeanwhile, TooMany, Unavailable
from shared.forgotten import Forgotten
from shared.records import Event
from shared.views import shown, shown_revision

NOTHING = "Nothing is remembered."


async def search(visit: Visit, asked: schemas.Search) -> Said:
    """What is relevant to a query. Raises BadValue, CannotSay."""
    if (why := visit.remembers_not()) is not None:
        return Said(why, {"memories": [], "count": 0, "note": why})
    query = Query(asked.query, asked.limit)
    try:
        found = await find(visit.reader, visit.turn, visit.application, query)
    except Unavailable:
        raise CannotSay(tools.SEARCH_UNAVAILABLE) from None
    if found.unread is not None:
        raise CannotSay(f"{tools.SEARCH_UNAVAILABLE} {found.unread}")
    memories = [found_data(hit) for hit in found.hits]
    text = found_lines(found.hits) if memories else tools.NOTHING_FOUND
    return Said(text, {"memories": memories, "count": len(memories)}, len(memories))


async def remember(visit: Visit, said: schemas.Remember) -> Said:
    """Keep a fact or a preference. Raises BadValue, CannotSay."""
    if (why := visit.remembers_not()) is not None:
        return Said(why, {"stored": False, "note": why})
    lesson = Lesson(messages=[Message("user", said.content)], metadata={"scope": "agent"})
    # Without an LLM it is learned at once, and found by the next search; an LLM takes longer than a turn may.
    at_once = visit.learning.extractor is None
    try:
        learned = await learn(visit.learning, visit.scope, lesson, visit.by, wait=at_once)
    except (Unavailable, TooMany, Conflict):
        raise CannotSay(tools.NOT_STORED) from None
    if learned.outcomes is None:
        return Said(tools.STORED, {"stored": True, **({} if learned.event is None else {"event_id": learned.event.id})})
    [kept] = learned.outcomes
    text = "This was remembered already." if kept.event is Event.NONE else tools.STORED
    return Said(text, {"stored": True, "id": kept.id, "event": kept.event}, 1)


async def remember_data(visit: Visit, said: schemas.Document) -> Said:
    """Write a document of typed data. Raises BadValue, Conflict, Unavailable, CannotSay."""
    if visit.data is None:
        raise CannotSay("This runtime keeps no typed data.")
    name = typed_data.type_name(said.type)
    written = await typed_data.put(visit.data, visit.scope, name, said.data, visit.by)
    data = {"stored": True, "type": name, "revision": written.revision}
    return Said(f"Stored as revision {written.revision}.", data, 1)


async def list_newest(visit: Visit, asked: schemas.Listing) -> Said:
    """What is remembered, newest first. Raises BadValue, Unavailable."""
    page = await visit.reader.store.page(visit.scope, limit=asked.limit, after=asked.cursor)
    count = len(page.memories)
    heading = f"{page.total} remembered in all, {count} here, newest first ({DATA}):"
    text = lines(heading, page.memories) if count else NOTHING
    if page.next is not None:
        text += f"\nThere are more: ask again with cursor {page.next}"
    memories = [shown(memory) for memory in page.memories]
    return Said(text, {"memories": memories, "count": count, "total": page.total, "next": page.next}, count)


async def correct(visit: Visit, asked: schemas.Correction) -> Said:
    """New words for a memory. Raises BadValue, NotFound, NotAllowed, Unavailable."""
    reader = visit.reader
    after = await remembered.correct(
        reader.store, visit.scope, asked.memory_id, asked.memory, visit.by, embedder=reader.embedder
    )
    return Said(lines("Corrected. It remembers now:", [after]), {"corrected": 1, "memory": shown(after)}, 1)


async def forget(visit: Visit, asked: schemas.One) -> Said:
    """Forget one memory. Raises NotFound, Unavailable."""
    forgotten = await remembered.forget(visit.reader.store, visit.scope, asked.memory_id, visit.by)
    return Said(f"Forgotten.{_held(forgotten)}", forgotten.shown(), forgotten)


async def forget_all(visit: Visit, asked: schemas.All) -> Said:
    """Forget everything, no more than was confirmed. Raises CannotSay, Unavailable."""
    try:
        forgotten = await visit.reader.store.forget_all(visit.scope, visit.by, confirmed=asked.count)
    except GrewMeanwhile as grew:
        sentence = f"{grew.sentence} It remembers {grew.total}: show the person what, and ask again."
        raise CannotSay(sentence, total=grew.total) from None
    return Said(f"Forgotten: {forgotten}.{_held(forgotten)}", forgotten.shown(), forgotten)


def _held(forgotten: Forgotten) -> str:
    """What the person is to be told where copies of their own still hold what was forgotten."""
    held = forgotten.held_by_snapshots
    return f" Snapshots that the person made still hold something of it: {held}." if held else ""


async def history(visit: Visit, asked: schemas.One) -> Said:
    """What became of one memory. Raises NotFound, Unavailable."""
    revisions = await remembered.history(visit.reader.store, visit.scope, asked.memory_id)
    text = "\n".join([f"What became of it, oldest first ({DATA}):", *map(revision_line, revisions)])
    return Said(text, {"history": [shown_revision(one) for one in revisions]}, 1)
