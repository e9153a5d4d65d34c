"""What a platform administrator reads of others: only when asked for by name, and always recorded for that person."""

from __future__ import annotations

from dataclasses import dataclass

from shared.access import Access, AccessRecord
from shared.administration import Administration, Stats
from shared.errors import NotAllowed, NotFound
from shared.records import Door, Memory, Page
from shared.scope import Everything, Reach, Scope
from shared.times import now
from shared.tokens import PLATFORM_ADMIN, Caller, Person, person_of


@dataclass(frozen=True, slots=True)
class Administrator:
    """A verified caller with the role `platform_admin`, acting under their own name."""

    uid: str

    def access(self, verb: str, memories: int, application: str | None = None) -> Access:
        """What is recorded of a read now."""
        return Access(self.uid, verb, Door.PLATFORM, application, memories, now())


def is_administrator(caller: Caller) -> bool:
    """Whether a caller is an administrator; who acts for another, or for one application, is not."""
    if not isinstance(caller, Person) or caller.actor != caller.uid or caller.application is not None:
        return False
    return PLATFORM_ADMIN in caller.scopes


def administrator(caller: Caller) -> Administrator:
    """The administrator who is calling. Raises NotAllowed for everybody else."""
    if is_administrator(caller):
        return Administrator(person_of(caller))
    raise NotAllowed("What is remembered of another person is read by a platform administrator only.")


async def page(
    reads: Administration, record: AccessRecord, admin: Administrator, reach: Reach, *, limit: int, offset: int
) -> Page:
    """A named person's memories. Nothing is shown that could not be recorded first."""
    found = await reads.page(reach, limit=limit, offset=offset)
    application = reach.application if isinstance(reach, Scope) else None
    await record.note(Everything(reach.person), admin.access("list", len(found.memories), application))
    return found


async def one(reads: Administration, record: AccessRecord, admin: Administrator, memory_id: str) -> Memory:
    """A memory by id, whoever's it is. Raises NotFound."""
    found = await reads.find(memory_id)
    if found is None:
        raise NotFound("Nothing is remembered by that id.")
    if found.person and found.person != admin.uid:
        await record.note(Everything(found.person), admin.access("get", 1, found.application or None))
    return found


async def stats(reads: Administration, record: AccessRecord, admin: Administrator) -> Stats:
    """How much is remembered in all. Of no person, so it is recorded under the administrator's own name."""
    found = await reads.stats()
    await record.note(Everything(admin.uid), admin.access("stats", found.total))
    return found
